import { execFileSync } from "node:child_process";
import { programs, withSize } from "./programs.mjs";

/** Milliseconds by program in SBCL, compiled with its usual settings; undefined where there is none. */
export function timeSbcl() {
  try {
    const output = execFileSync(
      "sbcl",
      ["--noinform", "--no-sysinit", "--no-userinit", "--disable-debugger", "--eval", "(progn)", "--load", "/dev/stdin", "--quit"],
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
  const timings = programs.map(({ name, define, lisp, size, answer }) => `${define}\n(time-it "${name}" (lambda () ${withSize(lisp, size)}) ${answer(size)})`);
  return `
(defvar *first* t)
(defun time-it (name work answer)
  (unless (eql (funcall work) answer) (error "~a answered wrongly" name))
  (let ((turns (loop repeat 15 collect (let ((started (get-internal-real-time))) (dotimes (i 5) (funcall work)) (/ (- (get-internal-real-time) started) 5)))))
    (format t "~:[,~;~%{~]\\"~a\\":~,4f" (shiftf *first* nil) name (/ (nth 7 (sort turns #'<)) internal-time-units-per-second 1/1000))))
${timings.join("\n")}
(format t "}~%")
`;
}
