;;; Runs programs in another Common Lisp. Reads one list of (name source) from standard input, and writes one JSON
;;; object per program, in ASCII, to standard output. Loaded by test/lisp/oracle.ts into SBCL and into ECL.

(setf *read-default-float-format* 'double-float)

(defpackage "ORACLE" (:use "COMMON-LISP"))
(in-package "ORACLE")

(defun precedence (condition)
  "The names of the condition's classes, the most specific first."
  (mapcar #'class-name
          #+sbcl (sb-mop:class-precedence-list (class-of condition))
          #+ecl (clos:class-precedence-list (class-of condition))))

(defun type-name (condition home)
  "The first class that the standard or the program (whose package is HOME) defines: what a portable program can handle."
  (flet ((portable (name)
           (or (eq (symbol-package name) home)
               (member name '(type-error unbound-variable unbound-slot undefined-function division-by-zero arithmetic-error
                              floating-point-overflow floating-point-underflow floating-point-invalid-operation
                              program-error control-error parse-error reader-error end-of-file stream-error file-error
                              package-error cell-error print-not-readable simple-error simple-warning
                              style-warning storage-condition warning error serious-condition)))))
    (symbol-name (or (find-if #'portable (precedence condition))
                     (find 'simple-condition (precedence condition))
                     'condition))))

(defun run-forms (source)
  "The values of the last form, each printed."
  (with-input-from-string (in source)
    (loop with values = '()
          for form = (read in nil in)
          until (eq form in)
          do (setf values (multiple-value-list (eval form)))
          finally (return (mapcar #'prin1-to-string values)))))

(defun run-program (source home)
  "Values, output and the type of an unhandled condition."
  (let* ((values '())
         (failure nil)
         (output
           (with-output-to-string (*standard-output*)
             (let ((*package* home)
                   (*print-pretty* nil)
                   (*trace-output* *standard-output*)
                   (*error-output* (make-broadcast-stream))
                   (*gensym-counter* 1))
               (handler-case
                   (handler-bind ((warning #'muffle-warning))
                     (setf values (run-forms source)))
                 (serious-condition (condition) (setf failure (type-name condition home))))))))
    (list values output failure)))

(defun write-json-string (text)
  (write-char #\")
  (loop for char across text
        for code = (char-code char)
        do (cond ((member char '(#\" #\\)) (write-char #\\) (write-char char))
                 ((<= 32 code 126) (write-char char))
                 ((< code 65536) (format t "\\u~4,'0x" code))
                 (t (multiple-value-bind (high low) (floor (- code 65536) 1024)
                      (format t "\\u~4,'0x\\u~4,'0x" (+ 55296 high) (+ 56320 low))))))
  (write-char #\"))

(defun write-result (name values output failure)
  (format t "{\"name\":")
  (write-json-string name)
  (format t ",\"values\":[")
  (loop for (value . more) on values
        do (write-json-string value)
           (when more (write-char #\,)))
  (format t "],\"output\":")
  (write-json-string output)
  (format t ",\"condition\":")
  (if failure (write-json-string failure) (write-string "null"))
  (format t "}~%"))

;;; SBCL's interpreter starts much faster than its compiler, but only compiled code has tail calls.
#+sbcl
(defun evaluator-for (name)
  (flet ((has (part) (search part name)))
    (if (or (has "depths/") (has "functions/") (has "tail call")) :compile :interpret)))

(loop for (name source) in (read)
      for count from 0
      for home = (make-package (format nil "PROGRAM-~d" count) :use '("COMMON-LISP"))
      do #+sbcl (setf sb-ext:*evaluator-mode* (evaluator-for name))
         (destructuring-bind (values output failure) (run-program source home)
           (write-result name (if failure '() values) output failure)))
(finish-output)
