;;; defpackage, symbols of packages, and questions about the implementation.

(defmacro defpackage (name &rest options)
  `(%define-package ',name ',options))

;; Redefining a package only adds to it.
(defun %define-package (name options)
  (labels ((given (key) (loop for (option . values) in options when (eq option key) collect values))
           (names (key) (mapcar #'string (apply #'append (given key))))
           (brought (key) (mapcar #'string (mapcan (lambda (names) (copy-list (rest names))) (given key))))
           (found (key)
             (loop for (source . names) in (given key)
                   nconc (mapcar (lambda (name) (%present-symbol (string name) source)) names)))
           (refuse (control &rest arguments)
             (error 'program-error :text (apply #'format nil control arguments))))
    (loop for key in '(:size :documentation)
          when (rest (given key)) do (refuse "DEFPACKAGE: ~s is given twice" key))
    (let* ((own (append (names :shadow) (names :intern)
                        (brought :shadowing-import-from) (brought :import-from)))
           (twice (or (find-if (lambda (name) (> (count name own :test #'string=) 1)) own)
                      (find-if (lambda (name) (member name (names :export) :test #'string=))
                               (names :intern)))))
      (when twice (refuse "DEFPACKAGE: ~a is named by two options" twice)))
    (let ((package (or (find-package name)
                       (make-package name :nicknames (names :nicknames)))))
      ;; Also without names to shadow: this refuses a locked package.
      (shadow (names :shadow) package)
      (when (given :documentation)
        (setf (documentation package t) (caar (given :documentation))))
      (shadowing-import (found :shadowing-import-from) package)
      (use-package (apply #'append (given :use)) package)
      (import (found :import-from) package)
      (dolist (name (names :intern)) (intern name package))
      (export (mapcar (lambda (name) (intern name package)) (names :export)) package)
      package)))

(defun %present-symbol (name package)
  (unless (nth-value 1 (find-symbol name package))
    (cerror "Make the symbol." 'package-error
            :package package
            :text (format nil "the package ~a has no symbol ~a" (package-name package) name)))
  (values (intern name package)))

(defun gentemp (&optional (prefix "T") (package *package*))
  (check-type prefix string)
  (loop for count from 1
        for name = (format nil "~a~d" prefix count)
        unless (nth-value 1 (find-symbol name package))
          return (values (intern name package))))

(defun copy-symbol (symbol &optional copy-properties)
  (let ((copy (make-symbol (symbol-name symbol))))
    (when copy-properties
      (when (boundp symbol) (setf (symbol-value copy) (symbol-value symbol)))
      (when (and (fboundp symbol) (not (macro-function symbol)) (not (special-operator-p symbol)))
        (setf (fdefinition copy) (fdefinition symbol)))
      (setf (symbol-plist copy) (copy-list (symbol-plist symbol))))
    copy))

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
