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

;; Two symbols of the same name conflict in a package, unless one is shadowing.

(defun %package-fault (package control &rest arguments)
  (error 'package-error :package package :text (apply #'format nil control arguments)))

(defun %conflict (package name other)
  (%package-fault package "~a would mean two symbols in ~a: its own and that of ~a; shadow one of them first"
                  name (package-name package) (package-name other)))

(defun %listed (value)
  (if (listp value) value (list value)))

(defun %symbols (symbols)
  (mapc #'symbol-name (%listed symbols)))

(defun %has-symbol (package symbol)
  (multiple-value-bind (found status) (find-symbol (symbol-name symbol) package)
    (and status (eq found symbol))))

;; True if the package has another symbol of the same name that it does not shadow with.
(defun %has-other (package symbol)
  (multiple-value-bind (found status) (find-symbol (symbol-name symbol) package)
    (and status
         (not (eq found symbol))
         (not (member found (package-shadowing-symbols package))))))

(defun export (symbols &optional (package *package*))
  (setq package (%own-package package))
  (dolist (symbol (%symbols symbols) t)
    (let ((name (symbol-name symbol)))
      (unless (%has-symbol package symbol)
        (%package-fault package "~a is not accessible in ~a, so it cannot be exported"
                        name (package-name package)))
      (dolist (user (package-used-by-list package))
        (when (%has-other user symbol) (%conflict user name package)))
      (%hold package symbol 'external))))

(defun unexport (symbols &optional (package *package*))
  (setq package (%own-package package))
  (dolist (symbol (%symbols symbols) t)
    (unless (%has-symbol package symbol)
      (%package-fault package "~a is not accessible in ~a, so it cannot be unexported"
                      (symbol-name symbol) (package-name package)))
    (%unexport package symbol)))

(defun import (symbols &optional (package *package*))
  (setq package (%own-package package))
  (dolist (symbol (%symbols symbols) t)
    (when (%has-other package symbol)
      (%package-fault package "~a already has another symbol ~a; use SHADOWING-IMPORT to replace it"
                      (package-name package) (symbol-name symbol)))
    (%hold package symbol 'present)))

(defun shadowing-import (symbols &optional (package *package*))
  (setq package (%own-package package))
  (dolist (symbol (%symbols symbols) t) (%hold package symbol 'shadowing)))

(defun shadow (names &optional (package *package*))
  (setq package (%own-package package))
  (dolist (name (%listed names) t) (%shadow package name)))

(defun use-package (packages &optional (package *package*))
  (setq package (%own-package package))
  (dolist (used (%listed packages) t)
    (setq used (%package used))
    (unless (or (eq used package) (member used (package-use-list package)))
      (let ((name (%clash package used)))
        (when name (%conflict package name used)))
      (%set-uses package (append (package-use-list package) (list used))))))

(defun unuse-package (packages &optional (package *package*))
  (setq package (%own-package package))
  (let ((gone (mapcar #'%package (%listed packages))))
    (%set-uses package
               (remove-if (lambda (used) (member used gone)) (package-use-list package)))))

(defun make-package (name &key nicknames use)
  (let* ((names (mapcar #'string (cons name nicknames)))
         (taken (find-if #'find-package names)))
    (cond (taken
           (restart-case (%package-fault (find-package taken) "the package ~a already exists" taken)
             (continue () :report "Use the package that exists."))
           (find-package taken))
          (t (let ((package (%name-package nil names)))
               (use-package use package)
               package)))))

(defun rename-package (package name &optional nicknames)
  (setq package (%own-package package))
  (let* ((names (mapcar (lambda (one) (if (packagep one) (package-name one) (string one)))
                        (cons name nicknames)))
         (taken (find-if (lambda (one) (not (member (find-package one) (list nil package)))) names)))
    (when taken (%package-fault package "the package ~a already exists" taken))
    (%name-package package names)))

;; Packages that use it may go on without it.
(defun delete-package (package)
  (setq package (%own-package package))
  (when (package-name package)
    (let ((users (package-used-by-list package)))
      (when users
        (restart-case (%package-fault package "~a is used by ~{~a~^, ~}" (package-name package)
                                      (mapcar #'package-name users))
          (continue () :report "Delete it anyway.")))
      (dolist (user users) (%set-uses user (remove package (package-use-list user))))
      (%name-package package nil)
      (%set-uses package nil))))

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
