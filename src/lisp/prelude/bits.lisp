;;; Bits of integers and bit arrays.

(defun ldb-test (bytespec integer)
  (not (zerop (ldb bytespec integer))))

(defun mask-field (bytespec integer)
  (ash (ldb bytespec integer) (byte-position bytespec)))

(defun deposit-field (newbyte bytespec integer)
  (dpb (ldb bytespec newbyte) bytespec integer))

;; For BIT-AND and the like. RESULT is the array for the bits; T stands for the first array, NIL for a new one.
(defun %combine-bits (op array-1 array-2 result)
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
            (logand 1 (boole op
                             (row-major-aref array-1 index)
                             (row-major-aref array-2 index)))))))

(defun bit-not (array &optional result)
  (%combine-bits boole-nor array array result))
