;;; Numbers.

(defun boole (op integer-1 integer-2)
  (let ((functions (list (constantly 0) (constantly -1)
                         (lambda (a b) (declare (ignore b)) a) (lambda (a b) (declare (ignore a)) b)
                         (lambda (a b) (declare (ignore b)) (lognot a))
                         (lambda (a b) (declare (ignore a)) (lognot b))
                         #'logand #'logior #'logxor #'logeqv #'lognand #'lognor
                         #'logandc1 #'logandc2 #'logorc1 #'logorc2)))
    (check-type op (mod 16))
    (check-type integer-1 integer)
    (check-type integer-2 integer)
    (funcall (nth op functions) integer-1 integer-2)))
