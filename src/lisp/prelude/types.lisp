;;; deftype.

(defmacro deftype (name lambda-list &body body)
  `(%define-type ',name
     (lambda (%arguments)
       (destructuring-bind ,(%starred lambda-list) %arguments ,@(%in-block name body)))))

;; The default of an optional argument is *, not NIL.
(defun %starred (lambda-list)
  (let ((optional nil))
    (loop for item in lambda-list
          when (member item lambda-list-keywords)
            do (setq optional (member item '(&optional &key)))
          collect (if (and optional (symbolp item) (not (member item lambda-list-keywords)))
                      `(,item '*)
                      item))))
