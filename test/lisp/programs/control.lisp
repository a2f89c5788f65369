Evaluation, blocks, exits, values.

;; --- multiple values of the last form
(floor 17 5)
;; --- only the last form counts
1 2 (+ 1 2)
;; --- output and value
(format t "hello~%") (print 'a) 42
;; --- no values
(values)
;; --- values in argument position
(list (values 1 2) (values))
;; --- symbols are upcased
'(foo |Foo| :bar #:baz Foo\bar)
;; --- nil and t
(list nil '() t (null nil) (eq 'nil '()))
;; --- if without else
(list (if nil 1) (if t 1) (if 0 'zero-is-true))
;; --- and or
(list (and) (or) (and 1 2) (or nil 2 (error "not reached")) (and nil (error "not reached")))
;; --- cond
(list (cond) (cond (nil 1)) (cond ((+ 1 1))) (cond (nil 1) (t 2 3)) (cond ((member 2 '(1 2 3))) (t 'no)))
;; --- when unless
(list (when nil 1) (when t 1 2) (unless t 1) (unless nil 1 2) (when t) (unless nil))
;; --- case
(mapcar (lambda (x) (case x (1 'one) ((2 3) 'few) (a 'sym) ((nil) 'nothing) (#\c 'char) (otherwise 'other))) '(1 2 3 a nil #\c "x"))
;; --- case without match
(case 5 (1 'one))
;; --- case t clause
(case 5 (1 'one) (t 'rest))
;; --- case quoted t
(case t ((t) 'yes) (otherwise 'no))
;; --- ecase failure
(ecase 5 (1 'one) ((2 3) 'few))
;; --- ecase hit
(ecase 2 (1 'one) ((2 3) 'few))
;; --- ccase store-value
(let ((x 5)) (handler-bind ((error (lambda (c) (declare (ignore c)) (store-value 1)))) (ccase x (1 (list 'one x)))))
;; --- typecase
(mapcar (lambda (x) (typecase x (integer 'int) (string 'str) (null 'null) (symbol 'sym) ((or cons vector) 'seq) (t 'other))) (list 1 "s" nil 'a '(1) #(1) 1.5))
;; --- etypecase failure
(etypecase 1.5 (integer 1) (string 2))
;; --- let is parallel
(let ((x 1)) (let ((x 2) (y x)) (list x y)))
;; --- let star is sequential
(let ((x 1)) (let* ((x 2) (y x)) (list x y)))
;; --- let without value
(let (a (b) (c 3)) (list a b c))
;; --- setq many
(let (a b) (list (setq a 1 b (+ a 1)) a b (setq)))
;; --- psetq
(let ((a 1) (b 2)) (psetq a b b a) (list a b))
;; --- progn prog1 prog2
(list (progn) (progn 1 2) (prog1 1 2 3) (prog2 1 2 3))
;; --- block and return-from
(block outer (block inner (return-from outer 1)) 2)
;; --- return-from several values
(multiple-value-list (block b (return-from b (values 1 2 3))))
;; --- block falls through
(block b 1 2)
;; --- return-from inside a lambda
(defun find-it (l) (mapc (lambda (x) (when (evenp x) (return-from find-it x))) l) 'none) (list (find-it '(1 3 4 5)) (find-it '(1 3)))
;; --- return from a finished block
(let ((f (block b (lambda () (return-from b 1))))) (handler-case (funcall f) (control-error () 'too-late)))
;; --- return-from unknown block
(handler-case (eval '(return-from nowhere 1)) (error () 'refused))
;; --- dolist with return
(dolist (x '(1 2 3)) (when (= x 2) (return (* x 100))))
;; --- tagbody and go
(let ((n 0)) (tagbody again (incf n) (when (< n 5) (go again))) n)
;; --- tagbody returns nil
(tagbody 1 2)
;; --- tagbody with integer tags
(let (r) (tagbody (push 'a r) (go 2) 1 (push 'b r) (go 3) 2 (push 'c r) (go 1) 3) r)
;; --- go out of a lambda
(let ((n 0)) (tagbody start (incf n) (mapc (lambda (x) (when (< n 3) (princ x) (go start))) '(1 2 3))) n)
;; --- nested tagbody
(let (r) (tagbody (tagbody (push 1 r) (go out) (push 2 r)) (push 3 r) out (push 4 r)) r)
;; --- prog
(prog ((i 0) r) again (push i r) (incf i) (when (< i 3) (go again)) (return r))
;; --- catch and throw
(catch 'tag (list 1 (throw 'tag 'thrown)))
;; --- throw through functions
(defun inner () (throw 'done (values 1 2))) (defun outer () (inner) 'not-reached) (multiple-value-list (catch 'done (outer)))
;; --- catch nested same tag
(catch 'a (list 'outer (catch 'a (throw 'a 1))))
;; --- throw without catch
(throw 'nowhere 1)
;; --- catch tag evaluated
(let ((tag (list 'x))) (catch tag (throw tag 'same)))
;; --- unwind-protect order
(block b (unwind-protect (progn (princ 1) (return-from b 'out)) (princ 2)))
;; --- unwind-protect keeps values
(multiple-value-list (unwind-protect (values 1 2) (values 3 4)))
;; --- unwind-protect nested on error
(handler-case (unwind-protect (unwind-protect (error "x") (princ "inner ")) (princ "outer ")) (error () 'caught))
;; --- cleanup replaces the exit
(block b (block c (unwind-protect (return-from b 1) (return-from c 2))) 3)
;; --- throw from a cleanup
(catch 'a (catch 'b (unwind-protect (throw 'a 1) (throw 'b 2))) 'after-b)
;; --- multiple-value-bind
(multiple-value-bind (a b c) (values 1 2) (list a b c))
;; --- multiple-value-call
(multiple-value-call #'list 1 (values 2 3) (values) (floor 7 2))
;; --- multiple-value-list and nth-value
(list (multiple-value-list (values)) (multiple-value-list 1) (nth-value 1 (floor 7 2)) (nth-value 5 (values 1 2)))
;; --- multiple-value-prog1
(multiple-value-list (multiple-value-prog1 (values 1 2) (princ "x") 3))
;; --- multiple-value-setq
(let (a b) (list (multiple-value-setq (a b) (values 1 2 3)) a b))
;; --- values-list
(multiple-value-list (values-list '(1 2 3)))
;; --- values through if and let
(multiple-value-list (let ((x 1)) (if x (progn (values x 2)) 3)))
;; --- values stop at or
(list (multiple-value-list (or (values 1 2) 3)) (multiple-value-list (or nil (values 1 2))))
;; --- values through cond
(list (multiple-value-list (cond ((values 1 2)) (t 3))) (multiple-value-list (cond (t (values 1 2)))))
;; --- values through handler-case and catch
(list (multiple-value-list (handler-case (values 1 2) (error () 3))) (multiple-value-list (catch 'x (values 1 2))) (multiple-value-list (ignore-errors (values 1 2))))
;; --- values in setq keeps one
(let (x) (multiple-value-list (setq x (values 1 2))))
;; --- values many
(length (multiple-value-list (values-list (make-list 30 :initial-element 1))))
;; --- special variables
(defvar *x* 1) (defun show () *x*) (list (show) (let ((*x* 2)) (show)) (show))
;; --- defvar does not reset
(defvar *x* 1) (defvar *x* 2) *x*
;; --- defparameter resets
(defparameter *x* 1) (defparameter *x* 2) *x*
;; --- special binding unwound by throw
(defvar *x* 1) (catch 'out (let ((*x* 2)) (throw 'out nil))) *x*
;; --- special binding unwound by error
(defvar *x* 1) (ignore-errors (let ((*x* 2)) (error "x"))) *x*
;; --- special in let star and lambda list
(defvar *x* 1) (defun f (*x*) (g)) (defun g () *x*) (list (f 5) (let* ((*x* 2) (y (g))) y) (g))
;; --- closures do not capture specials
(defvar *x* 1) (let ((f (let ((*x* 2)) (lambda () *x*)))) (funcall f))
;; --- declare special
(defun g () (declare (special zz)) zz) (let ((zz 3)) (declare (special zz)) (g))
;; --- progv
(progv '(a b) '(1 2) (list (symbol-value 'a) (symbol-value 'b)))
;; --- progv without value
(progv '(a) '() (boundp 'a))
;; --- symbol-value and set
(set 'foo 5) (list (symbol-value 'foo) (boundp 'foo) (progn (makunbound 'foo) (boundp 'foo)))
;; --- symbol-value sees no lexical
(let ((lex 1)) (declare (ignorable lex)) (handler-case (symbol-value 'lex) (unbound-variable (c) (cell-error-name c))))
;; --- unbound variable
nowhere-bound
;; --- undefined function
(nowhere-defined 1)
;; --- undefined function has its name
(handler-case (nowhere-defined 1) (undefined-function (c) (cell-error-name c)))
;; --- defconstant
(defconstant +k+ 5) (list +k+ (constantp '+k+))
;; --- setting a constant
(handler-case (eval '(setq pi 3)) (error () 'refused))
;; --- keywords are themselves
(list :a (eq :a ':a) (keywordp :a) (symbol-name :a))
;; --- quote and backquote
(let ((x 1) (l '(2 3))) `(a ,x ,@l (b ,(+ x 1)) . c))
;; --- backquote vector
(let ((x 1)) `#(a ,x ,@(list 2 3)))
;; --- nested backquote
(let ((x 1)) (eval (second `(a `(b ,(+ 1 ,x))))))
;; --- nested backquote evaluated
(let ((x 1)) (eval `(let ((y 2)) `(,y ,',x ,@(list ,x y)))))
;; --- dotted and spliced backquote
(let ((l '(1 2))) (list `(,@l . 3) `(0 . ,l) `(,@l) `(,@nil a)))
;; --- eval
(list (eval '(+ 1 2)) (eval 'nil) (let ((x '(list 1 2))) (eval x)))
;; --- eval is in the null environment
(let ((x 1)) (declare (ignorable x)) (handler-case (eval 'x) (unbound-variable () 'unbound)))
;; --- the and declare
(let ((x 1)) (declare (type integer x) (optimize (speed 3)) (ignorable x)) (the integer (+ x 1)))
;; --- locally
(locally (declare (optimize (safety 3))) 1 2)
;; --- eval-when
(eval-when (:compile-toplevel :load-toplevel :execute) (defun ff () 7)) (ff)
;; --- eval-when not executed
(list (eval-when (:compile-toplevel) 1))
;; --- load-time-value
(load-time-value (+ 1 2))
;; --- destructuring-bind
(destructuring-bind (a (b &optional (c 5)) &rest d &key (e 6) &allow-other-keys) '(1 (2) :e 7 :f 8) (list a b c d e))
;; --- destructuring-bind failure
(handler-case (destructuring-bind (a b) '(1) (list a b)) (error () 'refused))
;; --- destructuring-bind dotted
(destructuring-bind (a . b) '(1 2 3) (list a b))
;; --- destructuring-bind whole
(destructuring-bind (&whole w a b) '(1 2) (list w a b))
;; --- dotimes changes
(let (r) (dotimes (i 3 (nreverse r)) (push (lambda () i) r)) (length r))
;; --- do with no step
(do ((i 0 (1+ i)) (c 'const)) ((= i 2) c))
;; --- identity of closures state
(let ((n 0)) (flet ((inc () (incf n))) (inc) (inc) n))
;; --- counter closures
(defun make-counter () (let ((n 0)) (lambda () (incf n)))) (let ((a (make-counter)) (b (make-counter))) (list (funcall a) (funcall a) (funcall b)))
;; --- eq eql equal equalp
(list (eq 'a 'a) (eql 1 1) (eql 1 1.0) (eql "a" "a") (equal "a" "a") (equal '(1 (2)) '(1 (2))) (equal 1 1.0) (equalp 1 1.0) (equalp "A" "a") (equal #(1) #(1)) (equalp #(1) #(1.0)))
;; --- comments and feature expressions
(list 1 ; one
 #| block #| nested |# |# 2 #+no-such-feature 3 #-no-such-feature 4)
;; --- radix syntax
(list #b101 #o17 #xff #3r12 1/2 4/2 -0 +5 1. 1.5e3 -.5)
;; --- end of file
(car '(1 2)
;; --- unbalanced close
(handler-case (read-from-string ")") (error () 'refused))
;; --- characters
(list #\a #\Space #\Newline #\( (char-code #\A))
;; --- history of unicode
(string-upcase "äöü😀")
;; --- funcall designators
(list (funcall 'list 1 2) (funcall #'list 1 2) (apply #'+ 1 2 '(3 4)) (apply 'max '(3 5 1)) (funcall (lambda (x) (* x x)) 4))
;; --- lambda form in head position
((lambda (x &optional (y 2)) (list x y)) 1)
;; --- funcall of no function
(funcall 5)
;; --- calling an undefined through funcall
(funcall 'no-such-function-here)
;; --- apply wants a list
(apply #'list 1 2)
;; --- assert passes
(assert (= 1 1))
;; --- assert fails
(assert (= 1 2))
;; --- assert with message
(handler-case (assert (= 1 2) () "not ~a" 'equal) (error (c) (princ-to-string c)))
;; --- assert continue with new value
(let ((x 1)) (handler-bind ((error (lambda (c) (setf x 2) (continue c)))) (assert (= x 2) ())) x)
;; --- check-type
(let ((x 1)) (check-type x integer) (check-type x string))
;; --- check-type store-value
(let ((x 1)) (handler-bind ((type-error (lambda (c) (declare (ignore c)) (store-value "s")))) (check-type x string)) x)
;; --- time of nothing
(progn (get-universal-time) (get-internal-real-time) t)
;; --- return keeps all values out of a simple loop
(multiple-value-list (loop (return (values 1 2 3))))
;; --- return keeps all values out of prog and tagbody
(list (multiple-value-list (prog () (return (values 1 2 3))))
      (multiple-value-list (block nil (tagbody (return (values 1 2)))))
      (multiple-value-list (block nil (tagbody again (let ((x 1)) (when (= x 1) (return (values 1 2))) (go again))))))
;; --- return-from keeps all values out of a function
(defun f1 () (loop (return-from f1 (values 1 2))))
(defun f2 (xs) (dolist (x xs) (when (> x 1) (return-from f2 (values x :found)))))
(defun f3 (n) (do ((i 0 (1+ i))) ((= i n) (values i :end)) (when (= i 3) (return (values i :three)))))
(list (multiple-value-list (f1)) (multiple-value-list (f2 '(1 2 3))) (multiple-value-list (f3 2)) (multiple-value-list (f3 9)))
;; --- return-from keeps all values through a closure and a tagbody
(multiple-value-list (block b (tagbody (mapc (lambda (x) (when (= x 2) (return-from b (values x :two)))) '(1 2 3)))))
;; --- ccase and ctypecase keep all values
(let ((x 1)) (list (multiple-value-list (ccase x (1 (values 1 2)))) (multiple-value-list (ctypecase x (integer (values 3 4))))))
;; --- incf evaluates its delta before it reads the place
(let ((x 0)) (incf x (setf x 1)) x)
;; --- decf and pushnew evaluate their arguments before they read the place
(let ((x 10) (l '(1))) (list (decf x (setf x 3)) (pushnew 2 l :test (progn (setf l '(5)) #'eql)) l))
;; --- define-modify-macro evaluates its arguments before it reads the place
(define-modify-macro times (n) *)
(let ((x 2)) (times x (setf x 5)) x)
;; --- psetq of symbol macros evaluates in order
(let ((c (list 1 2)) (log nil))
  (symbol-macrolet ((a (car (progn (push :a log) c))) (b (cadr (progn (push :b log) c))))
    (psetq a (progn (push :x log) b) b a)
    (list c (reverse log))))
;; --- remf evaluates the indicator before it reads the place
(let ((x (list 'a 1 'b 2))) (list (remf x (progn (setf x (list 'e 5 'f 6)) 'a)) x))
;; --- the standard macros have macro functions
(list (not (macro-function 'or)) (not (macro-function 'multiple-value-bind)) (macro-function 'if) (functionp (fdefinition 'cond)))
;; --- setf of an array without dimensions
(let ((a (make-array nil :initial-element 1))) (setf (aref a) 5) (list a (aref a)))
;; --- the first :allow-other-keys counts
(handler-case (string= "a" "a" :allow-other-keys nil :allow-other-keys t :foo 1) (program-error () :refused))
;; --- loop binds a variable twice
(handler-case (macroexpand '(loop for x in '(1) for x in '(2) collect x)) (program-error () :refused))
