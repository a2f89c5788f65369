;; --- car and cdr combinations
(let ((x '((1 (2 3)) (4 5) 6))) (list (caar x) (cadr x) (cdar x) (cddr x) (caddr x) (cadar x) (caadar x) (cddar x)))
;; --- car of nil
(list (car nil) (cdr nil) (caddr nil) (cddddr nil))
;; --- car of an atom
(car 5)
;; --- cadr of an atom in the way
(cadr '(1 . 2))
;; --- ordinals
(let ((x '(1 2 3 4 5 6 7 8 9 10))) (list (first x) (second x) (fifth x) (tenth x) (third '(1 2)) (rest x)))
;; --- setf of parts
(let ((x (list 1 (list 2 3) 4))) (setf (car x) 'a (cadr x) 'b (caddr x) 'c) x)
;; --- setf second and nth
(let ((x (list 1 2 3))) (setf (second x) 'b (nth 2 x) 'c (rest x) (cdr x)) x)
;; --- nth and nthcdr
(list (nth 0 '(a b c)) (nth 5 '(a b c)) (nthcdr 0 '(a b)) (nthcdr 2 '(a b c)) (nthcdr 9 '(a b)))
;; --- nth of a negative index
(nth -1 '(a b))
;; --- last
(list (last '(1 2 3)) (last '(1 2 3) 2) (last '(1 2 3) 0) (last nil) (last '(1 2 . 3)) (last '(1 2 3) 9))
;; --- butlast
(list (butlast '(1 2 3)) (butlast '(1 2 3) 2) (butlast '(1 2 3) 9) (butlast nil) (butlast '(1 2 . 3)))
;; --- append
(list (append) (append '(1) '(2 3) nil '(4)) (append '(1) 2) (append nil nil) (append '(1 2) '(3 . 4)))
;; --- append of an atom in front
(append 1 '(2))
;; --- append of a dotted list in front
(append '(1 . 2) '(3))
;; --- nconc
(let ((a (list 1 2)) (b (list 3))) (list (nconc a b nil (list 4)) a))
;; --- nconc with an atom at the end
(nconc (list 1) 2)
;; --- revappend and nreconc
(list (revappend '(1 2 3) '(4)) (nreconc (list 1 2 3) '(4)) (revappend nil 5))
;; --- list*
(list (list* 1) (list* 1 2 '(3 4)) (list* 1 2 3))
;; --- make-list
(list (make-list 3) (make-list 2 :initial-element 'x) (make-list 0))
;; --- make-list of a negative size
(make-list -1)
;; --- copy-list keeps the dot
(copy-list '(1 2 . 3))
;; --- copies are fresh
(let* ((a (list (list 1) 2)) (b (copy-list a)) (c (copy-tree a))) (setf (car (car a)) 'x) (list a b c))
;; --- copy-alist
(let* ((a (list (cons 1 2) (cons 3 4))) (b (copy-alist a))) (setf (cdr (car a)) 'x) (list a b))
;; --- list-length
(list (list-length '(1 2 3)) (list-length nil) (let ((x (list 1 2))) (setf (cddr x) x) (list-length x)))
;; --- list-length of a dotted list
(list-length '(1 . 2))
;; --- endp
(list (endp nil) (endp '(1)))
;; --- endp of an atom
(endp 5)
;; --- ldiff and tailp
(let* ((x (list 1 2 3 4)) (tail (cddr x))) (list (ldiff x tail) (tailp tail x) (tailp '(3 4) x) (ldiff x 9)))
;; --- member
(list (member 2 '(1 2 3)) (member 9 '(1 2)) (member "b" '("a" "b") :test #'equal) (member 3 '((1) (3)) :key #'car) (member 2 '(1 2 3) :test-not #'eql) (member 2 '(1 2 3) :test #'<))
;; --- member-if
(list (member-if #'evenp '(1 3 4 5)) (member-if-not #'oddp '(1 3 4 5)) (member-if #'evenp '((1) (2)) :key #'car))
;; --- member of a dotted list
(member 9 '(1 2 . 3))
;; --- member of an atom
(member 1 5)
;; --- assoc
(list (assoc 'b '((a . 1) (b . 2))) (assoc 'c '((a . 1))) (assoc "b" '(("a" . 1) ("b" . 2)) :test #'string=) (assoc 4 '((1 . 2) (4 . 5)) :test #'<) (assoc 2 '(nil (2 . x))))
;; --- assoc of a strange alist
(assoc 'a '(1 2))
;; --- rassoc and assoc-if
(list (rassoc 2 '((a . 1) (b . 2))) (assoc-if #'evenp '((1 . a) (2 . b))) (rassoc-if #'symbolp '((1 . 2) (3 . x))) (assoc-if-not #'evenp '((2 . a) (3 . b))))
;; --- acons and pairlis
(list (acons 'a 1 nil) (pairlis '(a b) '(1 2)) (pairlis '(a) '(1) '((z . 26))))
;; --- pairlis of unequal lists
(pairlis '(a b) '(1))
;; --- adjoin
(list (adjoin 1 '(2 3)) (adjoin 2 '(2 3)) (adjoin '(1) '((1)) :test #'equal) (adjoin '(1 b) '((1 a)) :key #'car))
;; --- union
(list (union '(1 2 3) '(3 4 5)) (union nil '(1 2)) (union '(1 2) nil) (union '("a") '("A") :test #'string-equal))
;; --- intersection and set-difference
(list (intersection '(1 2 3 4) '(2 4 9)) (set-difference '(1 2 3 4) '(2)) (set-difference '(1 2) nil) (intersection '((1 a) (2 b)) '((2 c)) :key #'car))
;; --- set-exclusive-or and subsetp
(list (set-exclusive-or '(1 2 3) '(3 4 5)) (subsetp '(1 2) '(3 2 1)) (subsetp '(1 9) '(1 2)) (subsetp nil nil))
;; --- destructive sets
(list (nunion (list 1 2 3) (list 3 4 5)) (nintersection (list 1 2 3) (list 2 3)) (nset-difference (list 1 2 3) (list 2)) (nset-exclusive-or (list 1 2 3) (list 3 4)))
;; --- subst
(list (subst 'x 'a '(a (b a) . a)) (subst 'x '(b) '(a (b)) :test #'equal) (subst-if 0 #'numberp '(1 (2 a))) (subst-if-not 'z #'consp '(1 2)))
;; --- sublis
(list (sublis '((a . 1) (b . 2)) '(a (b c) . a)) (sublis '(("x" . y)) '("x" z) :test #'equal) (nsublis '((a . b)) (list 'a 'c)))
;; --- tree-equal
(list (tree-equal '(1 (2 3)) '(1 (2 3))) (tree-equal '(1 2) '(1 (2))) (tree-equal '("a") '("A") :test #'equalp))
;; --- getf
(let ((p (list :a 1 :b 2))) (list (getf p :a) (getf p :c) (getf p :c 9) (setf (getf p :a) 5) (setf (getf p :z) 7) p))
;; --- getf of a malformed list
(getf '(:a) :b)
;; --- remf
(let ((p (list :a 1 :b 2 :c 3))) (list (remf p :b) p (remf p :z) p))
;; --- get-properties
(multiple-value-list (get-properties '(:a 1 :b 2) '(:x :b)))
;; --- get and remprop
(progn (setf (get 'color 'red) 1 (get 'color 'blue) 2) (list (get 'color 'red) (get 'color 'none) (get 'color 'none 5) (not (null (remprop 'color 'red))) (symbol-plist 'color) (remprop 'color 'none)))
;; --- mapcar
(list (mapcar #'1+ '(1 2 3)) (mapcar #'+ '(1 2 3) '(10 20)) (mapcar #'list '(1 2) '(a b) '(x y)) (mapcar #'car nil))
;; --- mapcar of a wrong list
(mapcar #'1+ 5)
;; --- mapcar of an improper list
(mapcar #'1+ '(1 . 2))
;; --- mapc and mapl
(let ((r nil)) (list (mapc (lambda (x) (push x r)) '(1 2)) (mapl (lambda (x) (push x r)) '(a b)) r))
;; --- maplist and mapcon
(list (maplist #'length '(a b c)) (mapcon #'list '(1 2 3)) (maplist #'list '(1 2) '(3 4)))
;; --- mapcan
(list (mapcan #'list '(1 2) '(3 4)) (mapcan (lambda (x) (if (evenp x) (list x) nil)) '(1 2 3 4)))
;; --- rplaca and rplacd
(let ((x (list 1 2))) (list (rplaca x 'a) (rplacd x 'b)))
;; --- rplaca of nil
(rplaca nil 1)
;; --- push pop pushnew
(let ((s nil)) (push 1 s) (push 2 s) (pushnew 2 s) (pushnew 3 s) (list (pop s) s (pop s) (pop s) (pop s)))
;; --- push with a place
(let ((x (list (list 1) 2))) (push 0 (car x)) (list x (pop (car x)) x))
;; --- sorting alist by value
(sort (list (cons 'a 3) (cons 'b 1) (cons 'c 2)) #'< :key #'cdr)
;; --- flatten
(labels ((f (x) (cond ((null x) nil) ((atom x) (list x)) (t (append (f (car x)) (f (cdr x))))))) (f '(1 (2 (3 4)) ((5)))))
;; --- permutations
(labels ((p (l) (if (null l) '(()) (mapcan (lambda (x) (mapcar (lambda (r) (cons x r)) (p (remove x l)))) l)))) (p '(1 2 3)))
;; --- apply and lists
(list (apply #'+ 1 2 '(3 4)) (apply #'max '(3 1 2)) (apply #'list nil) (funcall #'cons 1 2))
;; --- identity constantly complement
(list (identity 5) (funcall (constantly 7) 1 2) (mapcar (complement #'evenp) '(1 2)))
;; --- atoms and conses
(list (atom 1) (atom nil) (atom '(1)) (consp nil) (listp nil) (listp '(1 . 2)) (null nil) (null '(nil)))
;; --- equality of lists
(list (eq '(1) '(1)) (equal '(1 (2)) '(1 (2))) (equal '(1 . 2) '(1 . 2)) (equal "a" "a") (equal "a" "A") (equalp "a" "A") (equalp '(1 "a") '(1.0 "A")))
;; --- the test of sublis gets the part of the tree first
(let ((calls nil)) (sublis '((1 . x)) 2 :test (lambda (a b) (push (list a b) calls) nil)) calls)
;; --- sublis with an ordering test
(list (sublis '((1 . a) (2 . b)) '(0 1 2 3) :test (lambda (x y) (and (numberp x) (> x y)))) (nsublis '((3 . y)) (list 1 2 3 4) :test (lambda (x y) (and (numberp x) (< x y)))))
;; --- nbutlast changes its list
(let ((x (list 1 2 3)) (y (list 1 2 3 4 5))) (list (nbutlast x) x (nbutlast y 3) y (nbutlast (list 1 2) 5) (nbutlast (list 1 2) 2) (nbutlast nil) (nbutlast (list* 1 2 3 4))))
;; --- nconc of a list with itself
(let ((s (list 1 2))) (nconc s s) (list (first s) (fifth s) (nth 99 s)))
;; --- nsubst, sublis and subst-if-not
(list (nsubst 'x 1 (list 1 (list 2 1))) (sublis '((a . 1) (b . 2)) '(a (b c))) (subst-if-not 0 #'consp '(1 (2))))

;; --- properties of a dotted list
(list (multiple-value-list (get-properties '(a 1 b 2) '(c b)))
      (handler-case (get-properties '(a 1 b 2 . c) '(x)) (type-error () :dotted)))

;; --- pairs of something that is not a list
(list (handler-case (pairlis 1 '(a)) (type-error () :keys))
      (handler-case (pairlis '(a) 1) (type-error () :data)))
