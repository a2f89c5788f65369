;;; Iteration over hash tables.

(defmacro with-hash-table-iterator ((name table) &body body)
  (let ((step (gensym)))
    `(let ((,step (%table-iterator ,table)))
       (macrolet ((,name () '(funcall ,step))) ,@body))))
