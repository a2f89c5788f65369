;;; Macros over restarts.

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
