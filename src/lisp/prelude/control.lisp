;;; Control forms that few programs use.

(defmacro prog (bindings &body body)
  (%prog 'let bindings body))

(defmacro prog* (bindings &body body)
  (%prog 'let* bindings body))

(defun %prog (binder bindings body)
  (let ((statements (member-if-not #'%declaration-p body)))
    `(block nil
       (,binder ,bindings
         ,@(ldiff body statements)
         (tagbody ,@statements)))))

(defun %declaration-p (form)
  (typep form '(cons (eql declare))))
