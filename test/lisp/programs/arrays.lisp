;; --- make-array
(list (make-array 3) (make-array 2 :initial-element 'x) (make-array '(2 3) :initial-element 0) (make-array 3 :initial-contents '(1 2 3)) (make-array '(2 2) :initial-contents '((1 2) (3 4))) (make-array nil :initial-element 5) (make-array 0))
;; --- initial contents of the wrong length
(make-array 2 :initial-contents '(1 2 3))
;; --- negative dimension
(make-array -1)
;; --- aref
(let ((a (make-array '(2 2) :initial-contents '((1 2) (3 4))))) (setf (aref a 0 1) 'x) (list (aref a 0 0) (aref a 0 1) (aref a 1 1) (aref #(a b) 1) (aref (make-array nil :initial-element 7)) a))
;; --- aref out of bounds
(aref #(1 2) 2)
;; --- aref of a negative index
(aref #(1 2) -1)
;; --- aref with too many subscripts
(aref #(1 2) 0 0)
;; --- aref of a list
(aref '(1 2) 0)
;; --- svref
(let ((v (vector 1 2 3))) (setf (svref v 0) 'a) (list v (svref v 2)))
;; --- shape
(let ((a (make-array '(2 3 4)))) (list (array-rank a) (array-dimensions a) (array-dimension a 1) (array-total-size a) (array-in-bounds-p a 1 2 3) (array-in-bounds-p a 2 0 0) (array-row-major-index a 1 2 3)))
;; --- array-dimension of a missing axis
(array-dimension (make-array '(2 2)) 5)
;; --- row-major-aref
(let ((a (make-array '(2 2) :initial-contents '((1 2) (3 4))))) (setf (row-major-aref a 2) 'x) (list (row-major-aref a 3) a))
;; --- fill pointers
(let ((v (make-array 3 :fill-pointer 0))) (list (vector-push 'a v) (vector-push 'b v) (vector-push 'c v) (vector-push 'd v) v (fill-pointer v) (vector-pop v) v (length v) (array-dimension v 0)))
;; --- setf fill-pointer
(let ((v (make-array 3 :fill-pointer 3 :initial-element 0))) (setf (fill-pointer v) 1) (list v (aref v 2)))
;; --- vector-push-extend
(let ((v (make-array 1 :fill-pointer 0 :adjustable t))) (dotimes (i 5) (vector-push-extend (* i i) v)) (list v (length v) (adjustable-array-p v) (array-has-fill-pointer-p v)))
;; --- vector-pop of an empty vector
(vector-pop (make-array 1 :fill-pointer 0))
;; --- fill-pointer of a simple vector
(fill-pointer #(1 2))
;; --- vector-push on a simple vector
(vector-push 1 (vector 1 2))
;; --- adjust-array
(list (adjust-array #(1 2 3) 5 :initial-element 0) (adjust-array #(1 2 3) 2) (adjust-array (make-array '(2 2) :initial-contents '((1 2) (3 4))) '(3 3) :initial-element 0))
;; --- adjust an adjustable array
(let ((v (make-array 2 :adjustable t :initial-contents '(1 2)))) (adjust-array v 4 :initial-element 'x) v)
;; --- adjust with a fill pointer
(let ((v (make-array 3 :adjustable t :fill-pointer 2 :initial-element 1))) (adjust-array v 5 :fill-pointer 4 :initial-element 0) (list v (length v)))
;; --- vector
(list (vector) (vector 1 "a" 'b) (vectorp (vector)) (simple-vector-p #(1)) (simple-vector-p (make-array 1 :fill-pointer 0)) (arrayp (make-array '(1 1))) (vectorp (make-array '(1 1))))
;; --- equality of arrays
(list (equal #(1 2) #(1 2)) (equalp #(1 2) #(1 2.0)) (equalp #(1) #(2)) (equalp "a" #(#\A)) (equal "a" (make-array 1 :element-type 'character :initial-element #\a)))
;; --- printing arrays
(list #(1 (2 "x")) (make-array '(2 2) :initial-element 'a) #*101 (make-array '(1 2 2) :initial-element 0) (make-array '(0 2)))
;; --- read syntax
(list #(1 2) #2A((1 2) (3 4)) #*1100 #0A5 (length #3(a)))
;; --- bit vectors
(let ((b (make-array 3 :element-type 'bit :initial-element 1))) (setf (aref b 1) 0) (list b (bit-vector-p b) (array-element-type b)))
;; --- element types
(list (array-element-type "abc") (array-element-type (vector 1)) (array-element-type (make-array 2 :element-type 'character)) (upgraded-array-element-type 'bit) (upgraded-array-element-type 'character))
;; --- matrix multiplication
(let ((a #2A((1 2) (3 4))) (b #2A((5 6) (7 8))) (c (make-array '(2 2) :initial-element 0))) (dotimes (i 2 c) (dotimes (j 2) (dotimes (k 2) (incf (aref c i j) (* (aref a i k) (aref b k j)))))))
;; --- sieve
(let ((s (make-array 30 :element-type 'bit :initial-element 1))) (loop for i from 2 below 30 when (= 1 (aref s i)) do (loop for j from (* i i) below 30 by i do (setf (aref s j) 0))) (loop for i from 2 below 30 when (= 1 (aref s i)) collect i))
;; --- loop across an array with a fill pointer
(let ((v (make-array 5 :fill-pointer 2 :initial-element 'x))) (loop for e across v collect e))
;; --- nested vectors
(let ((v (vector (vector 1 2) (vector 3 4)))) (setf (aref (aref v 1) 0) 'z) v)
;; --- copy is not shared
(let* ((a (vector 1 2)) (b (copy-seq a))) (setf (aref b 0) 9) (list a b))
;; --- another shape for the same data
(let* ((a (make-array '(2 3) :initial-contents '((1 2 3) (4 5 6)))) (v (make-array 6 :displaced-to a))) (setf (aref v 4) 'x (aref a 0 0) 'y) (list v a (reduce #'+ (remove-if #'symbolp v))))
;; --- displaced vectors with an offset
(let* ((a (vector 1 2 3 4 5)) (d (make-array 3 :displaced-to a :displaced-index-offset 1))) (setf (aref d 0) 'x) (list a d (reverse d) (subseq d 1) (position 4 d) (multiple-value-list (array-displacement d))))
;; --- displaced strings
(let* ((s (copy-seq "abcdefgh")) (d (make-array 3 :element-type 'character :displaced-to s :displaced-index-offset 2))) (setf (char d 0) #\X) (list s d (string-upcase d) (equal d "Xde") (concatenate 'string d "!")))
;; --- a matrix displaced to a vector
(let* ((v (vector 1 2 3 4 5 6)) (m (make-array '(2 2) :displaced-to v :displaced-index-offset 2))) (setf (aref m 1 1) 'last) (list m v))
;; --- displaced with a fill pointer
(let* ((v (vector 1 2 3 4)) (d (make-array 3 :displaced-to v :displaced-index-offset 1 :fill-pointer 2))) (vector-push 'new d) (list d v))
;; --- adjust-array to another array
(let ((a (make-array 2 :adjustable t :initial-contents '(1 2))) (b (vector 'a 'b 'c))) (adjust-array a 2 :displaced-to b :displaced-index-offset 1) (setf (aref a 0) 'x) (list a b))
;; --- displaced beyond the end
(make-array 3 :displaced-to (vector 1 2) :displaced-index-offset 1)
