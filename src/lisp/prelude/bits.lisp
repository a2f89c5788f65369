;;; Bits of integers and bit arrays.

(defun lognand (integer-1 integer-2)
  (lognot (logand integer-1 integer-2)))

(defun lognor (integer-1 integer-2)
  (lognot (logior integer-1 integer-2)))

(defun logandc1 (integer-1 integer-2)
  (logand (lognot integer-1) integer-2))

(defun logandc2 (integer-1 integer-2)
  (logand integer-1 (lognot integer-2)))

(defun logorc1 (integer-1 integer-2)
  (logior (lognot integer-1) integer-2))

(defun logorc2 (integer-1 integer-2)
  (logior integer-1 (lognot integer-2)))

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

(defun ldb-test (bytespec integer)
  (not (zerop (ldb bytespec integer))))

(defun mask-field (bytespec integer)
  (ash (ldb bytespec integer) (byte-position bytespec)))

(defun deposit-field (newbyte bytespec integer)
  (dpb (ldb bytespec newbyte) bytespec integer))

;; RESULT is the array for the bits; T stands for the first array, NIL for a new one.
(defun %combine-bits (function array-1 array-2 result)
  (check-type array-1 (array bit))
  (check-type array-2 (array bit))
  (unless (equal (array-dimensions array-1) (array-dimensions array-2))
    (error "the bit arrays have different dimensions, ~s and ~s"
           (array-dimensions array-1) (array-dimensions array-2)))
  (let ((target (case result
                  ((t) array-1)
                  ((nil) (make-array (array-dimensions array-1) :element-type 'bit))
                  (t result))))
    (check-type target (array bit))
    (dotimes (index (array-total-size array-1) target)
      (setf (row-major-aref target index)
            (logand 1 (funcall function
                               (row-major-aref array-1 index)
                               (row-major-aref array-2 index)))))))

(defun bit-and (array-1 array-2 &optional result)
  (%combine-bits #'logand array-1 array-2 result))

(defun bit-ior (array-1 array-2 &optional result)
  (%combine-bits #'logior array-1 array-2 result))

(defun bit-xor (array-1 array-2 &optional result)
  (%combine-bits #'logxor array-1 array-2 result))

(defun bit-eqv (array-1 array-2 &optional result)
  (%combine-bits #'logeqv array-1 array-2 result))

(defun bit-nand (array-1 array-2 &optional result)
  (%combine-bits #'lognand array-1 array-2 result))

(defun bit-nor (array-1 array-2 &optional result)
  (%combine-bits #'lognor array-1 array-2 result))

(defun bit-andc1 (array-1 array-2 &optional result)
  (%combine-bits #'logandc1 array-1 array-2 result))

(defun bit-andc2 (array-1 array-2 &optional result)
  (%combine-bits #'logandc2 array-1 array-2 result))

(defun bit-orc1 (array-1 array-2 &optional result)
  (%combine-bits #'logorc1 array-1 array-2 result))

(defun bit-orc2 (array-1 array-2 &optional result)
  (%combine-bits #'logorc2 array-1 array-2 result))

(defun bit-not (array &optional result)
  (%combine-bits #'lognor array array result))
