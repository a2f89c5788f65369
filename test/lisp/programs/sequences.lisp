;; --- length
(list (length nil) (length '(1 2)) (length #(1 2 3)) (length "abcd") (length (make-array 5 :fill-pointer 2)))
;; --- length of a dotted list
(length '(1 . 2))
;; --- length of a number
(length 5)
;; --- elt
(list (elt '(a b c) 1) (elt #(a b c) 2) (elt "abc" 0))
;; --- elt beyond a list
(elt '(a b) 2)
;; --- elt beyond a vector
(elt #(a b) 2)
;; --- elt of a negative index
(elt #(a b) -1)
;; --- setf elt
(let ((l (list 1 2 3)) (v (vector 1 2 3)) (s (copy-seq "abc"))) (setf (elt l 0) 'x (elt v 1) 'y (elt s 2) #\z) (list l v s))
;; --- subseq
(list (subseq '(1 2 3 4) 1) (subseq '(1 2 3 4) 1 3) (subseq #(1 2 3) 2) (subseq "hello" 1 3) (subseq "abc" 3) (subseq nil 0))
;; --- subseq out of bounds
(subseq "abc" 2 9)
;; --- subseq with start past the end
(subseq '(1 2 3) 2 1)
;; --- subseq beyond a list
(subseq '(1 2) 5)
;; --- setf subseq
(let ((s (copy-seq "abcdef")) (l (list 1 2 3 4))) (setf (subseq s 1 3) "XY" (subseq l 2) '(a b c)) (list s l))
;; --- copy-seq is fresh
(let* ((a (vector 1 2)) (b (copy-seq a))) (setf (aref a 0) 'x) (list a b))
;; --- reverse
(list (reverse '(1 2 3)) (reverse #(1 2 3)) (reverse "abc") (reverse nil))
;; --- nreverse
(list (nreverse (list 1 2 3)) (nreverse (vector 1 2 3)) (nreverse (copy-seq "abc")))
;; --- reverse of a number
(reverse 5)
;; --- find
(list (find 2 '(1 2 3)) (find 9 '(1 2)) (find #\b "abc") (find 3 #(1 2 3)) (find "b" '("a" "b") :test #'string=) (find 2 '((1 a) (2 b)) :key #'car))
;; --- find with keywords
(list (find 1 '(1 2 1 3) :start 1) (find 1 '(1 2 3) :start 1) (find 2 '((1 . a) (2 . b) (2 . c)) :key #'car :from-end t) (find 3 '(1 2 3 4 5) :test #'<) (find 2 '(2 2 3) :test-not #'eql))
;; --- find-if
(list (find-if #'evenp '(1 2 3 4)) (find-if #'evenp '(1 2 3 4) :from-end t) (find-if-not #'evenp #(2 4 5)) (find-if #'upper-case-p "abCd") (find-if #'evenp '(1 3)))
;; --- position
(list (position 2 '(1 2 3)) (position #\l "hello") (position #\l "hello" :from-end t) (position 9 #(1 2)) (position #\l "hello" :start 3) (position 3 '(1 2 3) :end 2))
;; --- position-if
(list (position-if #'evenp '(1 3 4)) (position-if-not #'oddp #(1 3 4)) (position-if #'digit-char-p "ab1c2" :from-end t) (position-if #'plusp '((-1) (2)) :key #'car))
;; --- count
(list (count 1 '(1 2 1)) (count #\a "banana") (count-if #'evenp #(1 2 4)) (count-if-not #'evenp '(1 2 4)) (count #\a "banana" :start 2) (count 2 '((1 2) (3 2)) :key #'second))
;; --- remove
(list (remove 1 '(1 2 1 3)) (remove #\a "banana") (remove 1 #(1 2 1)) (remove 1 '(1 2 1 3 1) :count 2) (remove 1 '(1 2 1 3 1) :count 1 :from-end t) (remove 1 '(1 1 1) :start 1 :end 2))
;; --- remove-if
(list (remove-if #'evenp '(1 2 3 4)) (remove-if-not #'evenp #(1 2 3 4)) (remove-if #'evenp '(1 2 3 4) :count 1) (remove-if #'null '(nil 1 nil)))
;; --- remove with test and key
(list (remove 3 '(1 2 3 4 5) :test #'<) (remove 'a '((a 1) (b 2) (a 3)) :key #'car) (remove 2 '(1 2 3) :test-not #'eql) (remove "a" '("a" "b") :test #'equal))
;; --- delete
(list (delete 1 (list 1 2 1 3)) (delete-if #'oddp (list 1 2 3 4)) (delete #\a (copy-seq "banana")) (delete-if-not #'oddp (vector 1 2 3)))
;; --- remove with a negative count
(remove 1 '(1 2 1) :count -1)
;; --- substitute
(list (substitute 'x 1 '(1 2 1)) (substitute #\o #\a "banana") (substitute 0 1 #(1 2 1) :count 1) (substitute 0 1 '(1 2 1 1) :count 1 :from-end t) (substitute 'x 2 '(1 2 3) :test #'<))
;; --- substitute-if
(list (substitute-if 0 #'evenp '(1 2 3 4)) (substitute-if-not 0 #'evenp #(1 2 3 4)) (substitute-if 'x #'evenp '((1) (2)) :key #'car) (nsubstitute 'z 1 (list 1 2 1)) (nsubstitute-if #\- #'digit-char-p (copy-seq "a1b2")))
;; --- remove-duplicates
(list (remove-duplicates '(1 2 1 3 2)) (remove-duplicates '(1 2 1 3 2) :from-end t) (remove-duplicates "banana") (remove-duplicates '("a" "A" "b") :test #'string-equal) (remove-duplicates '((1 a) (1 b) (2 c)) :key #'car) (delete-duplicates (list 1 1 2)))
;; --- remove-duplicates with bounds
(list (remove-duplicates '(1 1 2 2 1) :start 2) (remove-duplicates '(1 1 2 2 1) :end 2) (remove-duplicates #(a b a)))
;; --- search
(list (search "lo" "hello") (search "xx" "hello") (search '(2 3) '(1 2 3 4 2 3)) (search '(2 3) '(1 2 3 4 2 3) :from-end t) (search "" "abc") (search "L" "hello" :test #'char-equal) (search #(1) '(0 1)) (search "ab" "xxabab" :start2 3))
;; --- mismatch
(list (mismatch "abcd" "abxd") (mismatch "abc" "abc") (mismatch "abc" "ab") (mismatch '(1 2) '(1 2 3)) (mismatch "xabc" "yabc" :start1 1 :start2 1) (mismatch "abc" "xbc" :from-end t) (mismatch "ABC" "abc" :test #'char-equal))
;; --- reduce
(list (reduce #'+ '(1 2 3 4)) (reduce #'- '(1 2 3 4)) (reduce #'- '(1 2 3 4) :from-end t) (reduce #'+ nil) (reduce #'+ nil :initial-value 7) (reduce #'list '(1 2 3) :initial-value 0) (reduce #'list '(1 2 3) :from-end t :initial-value 0))
;; --- reduce with key and bounds
(list (reduce #'+ '((1) (2) (3)) :key #'car) (reduce #'* #(1 2 3 4 5) :start 1 :end 4) (reduce #'max '(3) ) (reduce #'cons "abc" :from-end t :initial-value nil))
;; --- map
(list (map 'list #'1+ #(1 2 3)) (map 'vector #'+ '(1 2) '(10 20 30)) (map 'string #'char-upcase "abc") (map nil #'identity '(1 2)) (map 'list #'cons "ab" '(1 2)))
;; --- map into a bad type
(map 'integer #'identity '(1))
;; --- map-into
(list (map-into (list 0 0 0) #'+ '(1 2) '(10 20 30)) (map-into (vector nil nil) #'identity '(a b c)) (let ((v (make-array 3 :fill-pointer 0))) (map-into v #'1+ '(1 2)) v))
;; --- every and some
(list (every #'evenp '(2 4)) (every #'evenp nil) (some #'evenp '(1 3)) (some #'evenp #(1 2)) (every #'< '(1 2) '(2 3)) (some (lambda (x) (and (> x 1) (* x 10))) '(1 2 3)) (notany #'evenp '(1 3)) (notevery #'evenp '(2 3)))
;; --- every of a number
(every #'evenp 5)
;; --- concatenate
(list (concatenate 'list '(1) #(2) "a") (concatenate 'string "ab" '(#\c) #(#\d)) (concatenate 'vector '(1) '(2)) (concatenate 'string) (concatenate 'list nil nil))
;; --- concatenate characters that are none
(concatenate 'string '(1 2))
;; --- concatenate to a bad type
(concatenate 'foo '(1))
;; --- make-sequence
(list (make-sequence 'list 2 :initial-element 'x) (make-sequence 'vector 2 :initial-element 0) (make-sequence 'string 3 :initial-element #\z))
;; --- sort
(list (sort (list 3 1 2) #'<) (sort (vector 3 1 2) #'>) (sort (copy-seq "hello") #'char<) (sort (list "b" "a") #'string<) (sort (list 1/2 0.3 2) #'<) (sort nil #'<))
;; --- sort with key
(list (sort (list '(2 b) '(1 a)) #'< :key #'car) (sort (list -3 2 -1) #'< :key #'abs))
;; --- stable-sort keeps order
(stable-sort (list '(1 a) '(0 b) '(1 c) '(0 d)) #'< :key #'car)
;; --- sort in place
(let ((v (vector 3 1 2))) (sort v #'<) v)
;; --- sort long list
(let ((l (loop for i below 200 collect (mod (* i 37) 101)))) (equal (sort (copy-list l) #'<) (sort (copy-list l) (lambda (a b) (< a b)))))
;; --- merge
(list (merge 'list (list 1 3 5) (list 2 4) #'<) (merge 'vector (vector 1 2) (list 0 3) #'<) (merge 'list (list '(1 a)) (list '(1 b)) #'< :key #'car))
;; --- fill
(list (fill (list 1 2 3) 0) (fill (vector 1 2 3) 'x :start 1) (fill (copy-seq "abc") #\z :end 2))
;; --- replace
(list (replace (list 1 2 3 4) '(a b)) (replace (vector 1 2 3 4) #(a b c) :start1 2) (replace (copy-seq "abcdef") "XYZ" :start1 1 :end1 3 :start2 1) (let ((v (vector 1 2 3 4 5))) (replace v v :start1 1 :end2 3) v))
;; --- vectors of characters
(list (find #\a #(#\a #\b)) (coerce #(#\a #\b) 'string) (coerce "ab" 'vector))
;; --- sequence functions on bit vectors
(list (count 1 #*1011) (position 0 #*1011) (reverse #*100) (remove 0 #*1010))
;; --- nested key functions
(sort (mapcar #'string '(pear fig apple)) #'< :key #'length)
;; --- word count
(let ((h (make-hash-table :test 'equal))) (dolist (w '("a" "b" "a")) (incf (gethash w h 0))) (sort (loop for k being the hash-keys of h using (hash-value v) collect (cons k v)) #'string< :key #'car))
;; --- group by parity
(list (remove-if-not #'evenp '(1 2 3 4 5)) (remove-if #'evenp '(1 2 3 4 5)))
;; --- test gets the item first
(let ((r nil)) (list (find 1 '(2 3) :test (lambda (a b) (push (list a b) r) nil)) (reverse r)))
;; --- position with an end of nil
(list (position 3 '(1 2 3) :end nil) (subseq "abc" 1 nil) (find 3 #(1 2 3) :end nil))
;; --- unknown keyword
(find 1 '(1 2) :foo 3)
;; --- substitution without keywords
(list (substitute 9 1 '(1 2 1)) (substitute-if 9 #'evenp '(1 2 4)) (substitute-if-not 9 #'evenp (vector 1 2 4)) (nsubstitute 9 1 (list 1 2)) (nsubstitute-if 9 #'evenp (list 1 2)) (funcall #'substitute-if 0 #'oddp (list 1 2 3)) (apply #'substitute (list 'x 2 (vector 1 2))))
;; --- from-end calls the test from the end
(let ((c 5)) (substitute 'x 9 '(1 2 3 4 5 6 7 8 9) :test (lambda (a b) (incf c -2) (= (+ b c) a)) :from-end t))
