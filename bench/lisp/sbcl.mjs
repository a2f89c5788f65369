import { execFileSync } from "node:child_process";
import { programs, withSize } from "./programs.mjs";

/**
 * Milliseconds of processor time by program in SBCL, compiled with its usual settings; undefined
 * where there is none.
 */
export function timeSbcl() {
  try {
    const output = execFileSync(
      "sbcl",
      [
        "--noinform",
        "--no-sysinit",
        "--no-userinit",
        "--disable-debugger",
        "--eval",
        "(load *standard-input*)",
        "--quit",
      ],
      {
        input: script(),
        encoding: "utf8",
        stdio: ["pipe", "pipe", "ignore"],
      },
    );
    return JSON.parse(output.slice(output.lastIndexOf("\n{") + 1).trim());
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}

function script() {
  const timings = programs.map(
    ({ name, define, lisp, size, answer }) =>
      `${define}\n(time-it "${name}" (lambda () ${withSize(lisp, size)}) ${answer(size)})`,
  );
  return `
(defvar *first* t)
(defun ticks (work count)
  (let ((started (get-internal-run-time)))
    (dotimes (i count) (funcall work))
    (- (get-internal-run-time) started)))
;; The clock has coarse ticks, so a turn is as many runs as take a tenth of a second.
(defun time-it (name work answer)
  (unless (eql (funcall work) answer) (error "~a answered wrongly" name))
  (let* ((units internal-time-units-per-second)
         (count (ceiling (* 10 (/ units 10)) (max 1 (ticks work 10))))
         (turns (sort (loop repeat 5 collect (ticks work count)) #'<)))
    (format t "~:[,~;~%{~]\\"~a\\":~,5f" (shiftf *first* nil) name (/ (nth 2 turns) count units 1/1000))))
${timings.join("\n")}
(format t "}~%")
`;
}
