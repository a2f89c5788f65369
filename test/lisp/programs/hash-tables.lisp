;; --- get and set
(let ((h (make-hash-table))) (setf (gethash 'a h) 1 (gethash 'b h) 2) (list (gethash 'a h) (gethash 'c h) (gethash 'c h 'none) (hash-table-count h)))
;; --- second value
(let ((h (make-hash-table))) (setf (gethash 'a h) nil) (list (multiple-value-list (gethash 'a h)) (multiple-value-list (gethash 'b h)) (multiple-value-list (gethash 'b h 5))))
;; --- tests
(flet ((try (test key other) (let ((h (make-hash-table :test test))) (setf (gethash key h) t) (gethash other h)))) (list (try 'eql 1 1) (try 'eql 1 1.0) (try 'eql "a" "a") (try 'equal "a" "a") (try 'equal "a" "A") (try 'equalp "a" "A") (try 'equal '(1 (2)) '(1 (2))) (try 'equalp 1 1.0) (try 'eql 1.5 1.5) (try 'equal #\a #\a) (try 'equalp #(1 2) #(1 2)) (try 'equal #(1) #(1))))
;; --- function as a test
(hash-table-test (make-hash-table :test #'equal))
;; --- unknown test
(make-hash-table :test 'foo)
;; --- remhash and clrhash
(let ((h (make-hash-table))) (setf (gethash 1 h) 'a) (list (remhash 1 h) (remhash 1 h) (progn (setf (gethash 2 h) 'b) (clrhash h) (hash-table-count h))))
;; --- maphash
(let ((h (make-hash-table)) (r nil)) (setf (gethash 'a h) 1 (gethash 'b h) 2) (list (maphash (lambda (k v) (push (cons k v) r)) h) (sort r #'< :key #'cdr)))
;; --- incf of an entry
(let ((h (make-hash-table))) (incf (gethash 'a h 0)) (incf (gethash 'a h 0) 5) (gethash 'a h))
;; --- push to an entry
(let ((h (make-hash-table))) (push 1 (gethash 'a h)) (push 2 (gethash 'a h)) (gethash 'a h))
;; --- replacing keeps the count
(let ((h (make-hash-table :test 'equal))) (setf (gethash "a" h) 1 (gethash (string #\a) h) 2) (list (hash-table-count h) (gethash "a" h)))
;; --- order of insertion
(let ((h (make-hash-table))) (dolist (k '(c a b)) (setf (gethash k h) t)) (loop for k being the hash-keys of h collect k))
;; --- loop over keys and values
(let ((h (make-hash-table))) (setf (gethash 1 h) 'x (gethash 2 h) 'y) (list (loop for k being the hash-keys of h using (hash-value v) collect (list k v)) (loop for v being the hash-values of h collect v)))
;; --- with-hash-table-iterator
(let ((h (make-hash-table)) (r nil)) (setf (gethash 1 h) 'x) (with-hash-table-iterator (next h) (loop (multiple-value-bind (more k v) (next) (unless more (return)) (push (list k v) r)))) r)
;; --- removing while mapping
(let ((h (make-hash-table))) (dotimes (i 10) (setf (gethash i h) i)) (maphash (lambda (k v) (when (oddp v) (remhash k h))) h) (hash-table-count h))
;; --- gethash of no table
(gethash 1 '(1 2))
;; --- maphash of no table
(maphash #'list 5)
;; --- nil as a key
(let ((h (make-hash-table))) (setf (gethash nil h) 'none) (list (gethash nil h) (gethash '() h)))
;; --- tables are tables
(list (hash-table-p (make-hash-table)) (hash-table-p '(1)) (typep (make-hash-table) 'hash-table))
;; --- equalp of tables
(let ((a (make-hash-table)) (b (make-hash-table))) (setf (gethash 1 a) "x" (gethash 1 b) "X") (list (equalp a b) (equal a b)))
;; --- memo
(let ((memo (make-hash-table))) (labels ((f (n) (or (gethash n memo) (setf (gethash n memo) (if (< n 2) n (+ (f (1- n)) (f (- n 2)))))))) (f 60)))
;; --- counting letters
(let ((h (make-hash-table))) (loop for c across "mississippi" do (incf (gethash c h 0))) (sort (loop for k being the hash-keys of h using (hash-value v) collect (list k v)) #'char< :key #'first))
;; --- big integers as keys
(let ((h (make-hash-table))) (setf (gethash (expt 2 80) h) 'big (gethash 1/2 h) 'half) (list (gethash (expt 2 80) h) (gethash 2/4 h)))
;; --- equal objects hash alike
(list (= (sxhash "abc") (sxhash (copy-seq "abc"))) (= (sxhash '(1 (2))) (sxhash (list 1 (list 2)))) (= (sxhash 'a) (sxhash 'a)) (let ((n (sxhash 10))) (= n (let ((*print-base* 2)) (sxhash 10)))))
