;;; Assertions and restarts.

;; A correction repeats the test.
(defmacro assert (test &optional places datum &rest arguments)
  (declare (ignore places))
  `(block %done
     (tagbody %again
       (if ,test (return-from %done nil))
       (%assert-failed ',test ,datum (list ,@arguments))
       (go %again))))

;; STORE-VALUE sets the place and repeats the check. A constant is accepted, too; there is nothing to store into.
(defmacro check-type (place type &optional text)
  (let ((failed `(%check-failed ',place ,place ',type ,text)))
    `(block %done
       (tagbody %again
         (if (typep ,place ',type) (return-from %done nil))
         ,(if (or (symbolp place) (consp place)) `(setf ,place ,failed) failed)
         (go %again)))))

(defmacro restart-case (expression &rest clauses &environment environment)
  (flet ((designator (value) (if (or (null value) (stringp value)) value `#',value)))
    (let ((restarts
            (loop for (name lambda-list . body) in clauses
                  for options = (loop while (and (cdr body) (member (car body) '(:report :interactive :test)))
                                      collect (pop body)
                                      collect (designator (pop body)))
                  collect `(list ',name (lambda ,lambda-list ,@body) ,(getf options :report)
                                 ,(getf options :interactive) ,(getf options :test)))))
      `(%restart-case (list ,@restarts)
         (lambda ()
           ,(%associated expression (macroexpand expression environment) (length clauses)))))))

;; The condition of an expression that only signals gets the restarts, so that others do not use them.
(defun %associated (expression expanded count)
  (destructuring-bind (operator &rest arguments) (if (consp expanded) expanded '(nil))
    (let ((simple (getf '(signal simple-condition error simple-error
                          cerror simple-error warn simple-warning)
                        operator))
          (control (and (eq operator 'cerror) (pop arguments))))
      (if simple
          `(let* ((%control ,control) (%condition (%condition ',simple ,@arguments)))
             (declare (ignorable %control))
             (%associate ,count %condition
               (lambda ()
                 ,(if (eq operator 'cerror)
                      `(cerror %control %condition ,@(cdr arguments))
                      `(,operator %condition)))))
          expression))))

(defun abort (&optional condition)
  (invoke-restart (or (find-restart 'abort condition) 'abort)))

(defun muffle-warning (&optional condition)
  (invoke-restart (or (find-restart 'muffle-warning condition) 'muffle-warning)))

(defun continue (&optional condition)
  (let ((restart (find-restart 'continue condition)))
    (and restart (invoke-restart restart))))

(defun use-value (value &optional condition)
  (let ((restart (find-restart 'use-value condition)))
    (and restart (invoke-restart restart value))))

(defun store-value (value &optional condition)
  (let ((restart (find-restart 'store-value condition)))
    (and restart (invoke-restart restart value))))

(defmacro restart-bind (bindings &body body)
  `(%restart-bind
    (list ,@(loop for (name function . options) in bindings
                  collect `(list ',name ,function
                                 ,(getf options :report-function)
                                 ,(getf options :interactive-function)
                                 ,(getf options :test-function))))
    (lambda () ,@body)))

(defmacro with-simple-restart ((name control &rest arguments) &body body)
  `(restart-case (progn ,@body)
     (,name ()
       :report (lambda (stream) (format stream ,control ,@arguments))
       (values nil t))))

(defmacro with-condition-restarts (condition restarts &body body)
  `(%with-condition-restarts ,condition ,restarts (lambda () ,@body)))
