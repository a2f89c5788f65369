;;; Iteration over symbols, and questions about the implementation.

(defmacro do-symbols ((variable &optional (package '*package*) result) &body body)
  `(dolist (,variable (%package-symbols ,package :accessible) ,result) ,@body))

(defmacro do-external-symbols ((variable &optional (package '*package*) result) &body body)
  `(dolist (,variable (%package-symbols ,package :external) ,result) ,@body))

(defmacro do-all-symbols ((variable &optional result) &body body)
  `(dolist (,variable (mapcan (lambda (package) (%package-symbols package :present))
                              (list-all-packages))
             ,result)
     ,@body))

(defmacro with-package-iterator ((name packages &rest kinds) &body body)
  (unless (and kinds (subsetp kinds '(:internal :external :inherited)))
    (error 'program-error))
  (let ((rest (gensym)))
    `(let ((,rest (%iterator-entries ,packages ',kinds)))
       (macrolet ((,name () '(if ,rest (values-list (cons t (pop ,rest))) nil)))
         ,@body))))

(defun %iterator-entries (packages kinds)
  (loop for name in (if (listp packages) packages (list packages))
        for package = (or (find-package name) (error 'package-error :package name))
        nconc (loop for symbol in (%package-symbols package :accessible)
                    for status = (nth-value 1 (find-symbol (symbol-name symbol) package))
                    when (member status kinds)
                      collect (list symbol status package))))

(defun disassemble (function)
  (unless (or (functionp function) (typep function '(cons (eql lambda))))
    (setq function (fdefinition function)))
  (format t "~s is compiled to closures of the host; there are no instructions to show.~%" function)
  nil)
