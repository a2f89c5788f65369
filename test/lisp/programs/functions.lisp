Functions, lambda lists, tail calls, closures.

;; --- defun gives the name
(defun f () 1)
;; --- optional arguments
(defun f (a &optional b (c 3) (d 4 d-p)) (list a b c d d-p)) (list (f 1) (f 1 2) (f 1 2 5) (f 1 2 5 nil))
;; --- rest argument
(defun f (a &rest r) (list a r)) (list (f 1) (f 1 2 3))
;; --- key arguments
(defun f (&key a (b 2) (c 3 c-p)) (list a b c c-p)) (list (f) (f :b 5 :a 1) (f :c nil))
;; --- key with own keyword
(defun f (&key ((:width w) 1)) w) (list (f) (f :width 5))
;; --- key first wins
(defun f (&key a) a) (f :a 1 :a 2)
;; --- allow-other-keys in list
(defun f (&key a &allow-other-keys) a) (f :b 1 :a 2)
;; --- allow-other-keys in call
(defun f (&key a) a) (f :b 1 :a 2 :allow-other-keys t)
;; --- optional and rest and key
(defun f (a &optional (b 'b) &rest r &key k) (list a b r k)) (list (f 1) (f 1 2 :k 3))
;; --- aux
(defun f (a &aux (b (* a 2)) c) (list a b c)) (f 2)
;; --- default sees earlier arguments
(defun f (a &optional (b (* a 2)) &key (c (+ a b))) (list a b c)) (list (f 1) (f 1 5) (f 1 5 :c 0))
;; --- default uses supplied-p
(defun f (&optional (a 1 a-p) (b (if a-p 'given 'default))) (list a b)) (list (f) (f 2))
;; --- too few
(defun f (a b) (list a b)) (f 1)
;; --- too many
(defun f (a) a) (f 1 2)
;; --- odd keywords
(defun f (&key a) a) (f :a)
;; --- unknown keyword
(defun f (&key a) a) (f :b 1)
;; --- keyword not a symbol
(defun f (&key a) a) (handler-case (f 1 2) (program-error () 'refused))
;; --- lambda
(funcall (lambda (x &rest y) (list x y)) 1 2 3)
;; --- recursion
(defun fact (n) (if (<= n 1) 1 (* n (fact (1- n))))) (fact 25)
;; --- fibonacci
(defun fib (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))) (fib 15)
;; --- ackermann
(defun ack (m n) (cond ((zerop m) (1+ n)) ((zerop n) (ack (1- m) 1)) (t (ack (1- m) (ack m (1- n)))))) (ack 2 3)
;; --- tail call loop
(defun count-down (n) (if (zerop n) 'done (count-down (1- n)))) (count-down 100000)
;; --- mutual tail calls
(defun ev (n) (if (zerop n) t (od (1- n)))) (defun od (n) (if (zerop n) nil (ev (1- n)))) (list (ev 100000) (od 100001))
;; --- tail call with accumulator
(defun sum (n acc) (if (zerop n) acc (sum (1- n) (+ n acc)))) (sum 100000 0)
;; --- tail call through cond and when
(defun f (n) (cond ((> n 50000) 'end) (t (when t (progn (let ((m (1+ n))) (f m))))))) (f 0)
;; --- tail call in labels
(labels ((walk (n) (if (zerop n) 'there (walk (1- n))))) (walk 100000))
;; --- mutual labels
(labels ((a (n) (if (zerop n) 'a (b (1- n)))) (b (n) (if (zerop n) 'b (a (1- n))))) (a 99999))
;; --- tail call by funcall
(defun f (k n) (if (zerop n) 'k (funcall k k (1- n)))) (f #'f 50000)
;; --- flet does not see itself
(defun f (x) (list 'global x)) (flet ((f (x) (if (> x 0) (f (- x 1)) 'local))) (list (f 1) (f 0)))
;; --- labels sees itself
(labels ((f (x) (if (> x 0) (f (- x 1)) 'local))) (f 1))
;; --- flet with key and rest
(flet ((f (a &key (b 2) &aux (c (+ a b))) (list a b c))) (list (f 1) (f 1 :b 5)))
;; --- function namespace is apart
(let ((list '(1 2))) (list list (first list)))
;; --- local function as value
(flet ((sq (x) (* x x))) (mapcar #'sq '(1 2 3)))
;; --- compose
(defun compose (f g) (lambda (x) (funcall f (funcall g x)))) (funcall (compose #'1+ (lambda (x) (* x 10))) 4)
;; --- curry by rest
(defun curry (f &rest a) (lambda (&rest b) (apply f (append a b)))) (funcall (curry #'list 1 2) 3 4)
;; --- closures share a variable
(let ((n 0)) (defun inc () (incf n)) (defun peek () n)) (inc) (inc) (peek)
;; --- loop variable captured by dolist
(mapcar #'funcall (let (r) (dolist (x '(1 2 3) r) (let ((x x)) (push (lambda () x) r)))))
;; --- redefinition is seen at once
(defun f () 1) (defun g () (f)) (list (g) (progn (defun f () 2) (g)))
;; --- redefinition seen through symbol
(defun f () 1) (let ((b 'f)) (defun f () 2) (list (funcall b) (funcall (symbol-function b))))
;; --- fdefinition and setf
(setf (fdefinition 'f) (lambda (x) (* x 3))) (list (f 2) (not (fboundp 'f)) (progn (fmakunbound 'f) (fboundp 'f)))
;; --- symbol-function
(defun f () 7) (funcall (symbol-function 'f))
;; --- setf symbol-function
(setf (symbol-function 'f) #'car) (f '(1 2))
;; --- defun setf
(defvar *store* nil) (defun (setf thing) (new key) (setf *store* (list key new)) new) (list (setf (thing 'a) 5) *store*)
;; --- function of setf
(defun (setf thing) (new) (list 'set new)) (funcall #'(setf thing) 5)
;; --- docstring
(defun f () "Says one." 1) (list (f) (documentation 'f 'function))
;; --- docstring alone is the value
(defun f () "just a string") (f)
;; --- declarations before body
(defun f (x) (declare (type integer x)) "doc" (* x 2)) (f 4)
;; --- block of the function name
(defun f (l) (dolist (x l 'none) (when (minusp x) (return-from f x)))) (list (f '(1 -2)) (f '(1)))
;; --- block of a setf function
(defun (setf q) (v) (return-from q (list v))) (setf (q) 3)
;; --- functionp and such
(list (functionp #'car) (functionp 'car) (functionp (lambda ())))
;; --- many arguments
(apply #'+ (loop for i from 1 to 200 collect i))
;; --- list of many optional
(defun f (&optional a b c d e) (list a b c d e)) (list (f) (f 1 2 3 4 5))
;; --- special as parameter
(defvar *p* 1) (defun show () *p*) (defun f (&optional (*p* 5) &key (q (show))) (list *p* q)) (list (f) (f 6) (show))
;; --- setq of a parameter
(defun f (x) (setq x (* x 2)) x) (f 4)
;; --- closure over a setq parameter
(defun f (x) (let ((g (lambda () (incf x)))) (funcall g) (funcall g) x)) (f 1)
;; --- argument order is left to right
(let (r) (list (progn (push 1 r) 'a) (progn (push 2 r) 'b)) r)
;; --- constantly complement identity
(list (funcall (constantly 5) 1 2) (funcall (complement #'evenp) 3) (identity 4))
;; --- apply with several
(apply #'list 1 2 '(3 4))
;; --- every some with functions
(list (every #'evenp '(2 4)) (some (lambda (x) (and (> x 1) x)) '(1 2)) (notany #'oddp '(2)) (notevery #'oddp '(1 2)))
;; --- y combinator
(funcall ((lambda (f) (lambda (x) (funcall f f x))) (lambda (self n) (if (zerop n) 1 (* n (funcall self self (1- n)))))) 5)
;; --- church numerals
(flet ((add (m n) (lambda (f) (lambda (x) (funcall (funcall m f) (funcall (funcall n f) x)))))) (let ((two (lambda (f) (lambda (x) (funcall f (funcall f x)))))) (funcall (funcall (add two two) #'1+) 0)))
;; --- memo with a table
(let ((memo (make-hash-table))) (labels ((fib (n) (or (gethash n memo) (setf (gethash n memo) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))))) (fib 80)))
;; --- sort with closure
(let ((n 0)) (list (sort (list 3 1 2) (lambda (a b) (incf n) (< a b))) (> n 0)))
;; --- nqueens
(defun queens (n) (labels ((ok (q qs d) (or (null qs) (and (/= q (car qs)) (/= (abs (- q (car qs))) d) (ok q (cdr qs) (1+ d))))) (try (k qs) (if (= k n) 1 (loop for q below n when (ok q qs 1) sum (try (1+ k) (cons q qs)))))) (try 0 '()))) (queens 6)
;; --- hanoi
(let ((moves 0)) (labels ((hanoi (n a b c) (when (plusp n) (hanoi (1- n) a c b) (incf moves) (hanoi (1- n) c b a)))) (hanoi 8 'a 'b 'c)) moves)
;; --- primes by sieve
(let ((s (make-array 50 :initial-element t))) (loop for i from 2 below 50 when (aref s i) collect i and do (loop for j from (* i i) below 50 by i do (setf (aref s j) nil))))
;; --- quicksort
(defun qs (l) (if (null l) nil (let ((p (car l))) (append (qs (remove-if-not (lambda (x) (< x p)) (cdr l))) (list p) (qs (remove-if (lambda (x) (< x p)) (cdr l))))))) (qs '(3 1 4 1 5 9 2 6))
;; --- string reversal and palindromes
(defun palp (s) (string= s (reverse s))) (list (palp "level") (palp "lisp"))
;; --- names of extensions may be defined
(defun show (x) (format nil "<~a>" x))
(defun pmap (f list) (mapcar f list))
(defmacro jref (x) `(car ,x))
(defvar exit 3)
(list (show 1) (pmap #'show '(1 2)) (jref '(7 8)) exit)
;; --- a structure and a generic function with names of extensions
(defstruct quit code)
(defgeneric completions (x))
(defmethod completions ((x integer)) (1+ x))
(list (quit-code (make-quit :code 4)) (completions 1))
;; --- funcall evaluates its function before the arguments
(defun f () (funcall (progn (princ 1) #'list) (princ 2))) (let ((g #'car)) (defun h () (funcall g (progn (setq g #'cdr) '(1 2))))) (list (f) (h))
