What lies deep: scopes inside scopes, exits through bindings, values through exits, expanders that expand.

;; --- macro that defines macros
(defmacro defadder (name n) `(defmacro ,name (x) `(+ ,x ,,n))) (defadder add5 5) (add5 10)
;; --- backquote three deep
(let ((a 1)) (eval (eval ```(list ,,,a ',',a))))
;; --- splice in nested backquote
(let ((xs '(a b))) (eval ``(list ,@',(mapcar (lambda (x) `',x) xs))))
;; --- environment in macroexpand
(defmacro outer (form &environment env) `',(macroexpand-1 form env)) (macrolet ((inner (x) `(list ,x))) (outer (inner 1)))
;; --- macrolet that uses an outer macrolet
(macrolet ((one () 1)) (macrolet ((two () (list '+ '(one) (macrolet ((k () 1)) (k))))) (two)))
;; --- symbol macro shadowed by let
(symbol-macrolet ((x (list 1 2))) (list x (let ((x 5)) x) x))
;; --- symbol macro in setf incf push
(let ((l (list 1 2 3))) (symbol-macrolet ((head (car l)) (tail (cdr l))) (setf head 10) (incf head) (push 7 tail) (pop tail) (list head tail l)))
;; --- symbol macro of place with psetq and multiple-value-setq
(let ((v (vector 1 2))) (symbol-macrolet ((a (aref v 0)) (b (aref v 1))) (multiple-value-setq (a b) (floor 17 5)) v))
;; --- define-symbol-macro
(defvar *box* (list 1)) (define-symbol-macro boxed (car *box*)) (setf boxed 5) (incf boxed) (list boxed *box*)
;; --- define-modify-macro
(define-modify-macro appendf (&rest more) append) (let ((l (list 1))) (appendf l '(2) '(3)) l)
;; --- define-modify-macro evaluates once
(define-modify-macro timesf (n) *) (let ((i 0) (v (vector 1 2 3))) (timesf (aref v (incf i)) 10) (list i v))
;; --- define-setf-expander
(define-setf-expander second-of (place) (let ((temp (gensym)) (store (gensym))) (values (list temp) (list place) (list store) `(progn (setf (second ,temp) ,store) ,store) `(second ,temp)))) (defun second-of (l) (second l)) (let ((l (list 1 2 3))) (incf (second-of l) 40) l)
;; --- defsetf short
(defun get-it (l) (car l)) (defun set-it (l v) (setf (car l) v)) (defsetf get-it set-it) (let ((l (list 1))) (incf (get-it l) 4) l)
;; --- setf function with several arguments
(defvar *m* (make-hash-table :test 'equal)) (defun cell (i j) (gethash (list i j) *m* 0)) (defun (setf cell) (v i j) (setf (gethash (list i j) *m*) v)) (setf (cell 1 2) 5) (incf (cell 1 2) 3) (list (cell 1 2) (cell 0 0))
;; --- flet of setf function
(let ((x 0)) (flet (((setf it) (v) (setq x v))) (setf (it) 9) x))
;; --- order of setf evaluation
(let ((log nil)) (flet ((note (x v) (push x log) v)) (let ((v (vector 0 0))) (setf (aref (note :v v) (note :i 1)) (note :n 7)) (list v (reverse log)))))
;; --- order of push and pushnew
(let ((log nil) (l (list nil))) (flet ((note (x v) (push x log) v)) (push (note :item 1) (car (note :place l))) (pushnew (note :item2 1) (car (note :place2 l))) (list l (reverse log))))
;; --- rotatef of three places
(let ((l (list 1 2 3))) (rotatef (first l) (second l) (third l)) l)
;; --- shiftf answers the first
(let ((a 1) (b 2) (c 3)) (list (shiftf a b c 4) a b c))
;; --- psetf is parallel
(let ((a 1) (b 2)) (psetf a b b a) (list a b))
;; --- setf of values of places
(let ((l (list 0 0))) (setf (values (first l) (second l)) (floor 17 5)) l)
;; --- setf of the and of apply
(let ((v (vector 1 2)) (x 1)) (setf (the integer x) 5) (setf (apply #'aref v '(1)) 9) (list x v))
;; --- setf getf with default and nested
(let ((p (list :a (list :b 1)))) (incf (getf (getf p :a) :b)) (setf (getf (getf p :a) :c) 3) (incf (getf p :z 10) 5) p)
;; --- setf ldb
(let ((x 0)) (setf (ldb (byte 4 4) x) 15) x)
;; --- remf
(let ((p (list :a 1 :b 2))) (list (remf p :a) p (remf p :x)))
;; --- let binds in parallel
(let ((x 1)) (let ((x 2) (y x)) (list x y)))
;; --- let star with special in the middle
(defvar *s* 1) (defun s () *s*) (let* ((a (s)) (*s* 2) (b (s))) (list a b (s)))
;; --- let binds specials after all inits
(defvar *s* 1) (defun s () *s*) (let ((*s* 2) (b (s))) (list b (s)))
;; --- local special declaration
(let ((x 1)) (declare (special x)) (let ((x 2)) (list x (locally (declare (special x)) x))))
;; --- special through closure
(defvar *d* 1) (let ((f (let ((*d* 2)) (lambda () *d*)))) (funcall f))
;; --- progv binds and unbinds
(defvar *d* 1) (list (progv '(*d* extra) '(5) (list *d* (boundp 'extra))) *d*)
;; --- special parameter and return
(defvar *d* 1) (defun d () *d*) (defun f (*d*) (return-from f (list (d) *d*))) (list (f 7) (d))
;; --- special is put back after throw
(defvar *d* 1) (catch 'k (let ((*d* 2)) (throw 'k nil))) *d*
;; --- special is put back after go
(defvar *d* 1) (let ((n 0)) (tagbody again (let ((*d* (+ *d* 1))) (incf n) (when (< n 3) (go again)))) (list n *d*))
;; --- values through dynamic binding and block
(defvar *d* 1) (multiple-value-list (block b (let ((*d* 2)) (return-from b (values *d* 3)))))
;; --- go out of nested tagbodies
(let ((log nil)) (tagbody (tagbody (push 1 log) (go out) (push 2 log)) (push 3 log) out (push 4 log)) (reverse log))
;; --- go into a later statement from a closure
(let ((log nil)) (tagbody (mapc (lambda (x) (push x log) (when (= x 2) (go done))) '(1 2 3)) (push :not log) done (push :done log)) (reverse log))
;; --- tagbody with integer tags
(let ((n 0)) (tagbody 1 (incf n) (if (< n 5) (go 1))) n)
;; --- return from an outer block inside inner blocks
(block a (block b (block c (return-from a 1)) 2) 3)
;; --- block names are lexical
(defun f () (block x (g (lambda () (return-from x :inner))))) (defun g (k) (block x (funcall k) :outer)) (f)
;; --- return in argument position
(block nil (list 1 (return (values 2 3)) 4))
;; --- return inside let init
(block nil (let ((x (if t (return 5) 1))) (+ x 1)))
;; --- unwind-protect runs cleanups inside out
(let ((log nil)) (block b (unwind-protect (unwind-protect (return-from b 1) (push :inner log)) (push :outer log))) (reverse log))
;; --- cleanup may leave another way
(block a (block b (unwind-protect (return-from b 1) (return-from a 2))) 3)
;; --- throw in a cleanup
(catch 'x (catch 'y (unwind-protect (throw 'y 1) (throw 'x 2))) 3)
;; --- catch tags are compared by eq and dynamic
(catch 'a (list (catch 'b (throw 'a :through)) :not))
;; --- inner catch of the same tag
(catch 'a (list (catch 'a (throw 'a 1)) 2))
;; --- throw of several values
(multiple-value-list (catch 'a (throw 'a (values 1 2 3))))
;; --- labels mutual and with keys
(labels ((f (n &key (acc nil)) (if (= n 0) (reverse acc) (g n :acc (cons n acc)))) (g (n &key acc) (f (- n 1) :acc acc))) (f 3))
;; --- flet does not see itself
(defun f (x) (list :global x)) (flet ((f (x) (f (list x)))) (f 1))
;; --- local function as value
(flet ((sq (x) (* x x))) (mapcar #'sq '(1 2 3)))
;; --- closures over the same variable
(let ((fs (let ((n 0)) (list (lambda () (incf n)) (lambda () (decf n)))))) (list (funcall (first fs)) (funcall (first fs)) (funcall (second fs))))
;; --- supplied-p
(defun f (&optional (a 1 a-p) &key (b 2 b-p)) (list a a-p b b-p)) (list (f) (f 5) (f 5 :b 6))
;; --- keyword names of one's own
(defun f (&key ((:from start) 1) ((to end) 2)) (list start end)) (list (f :from 5) (f 'to 7))
;; --- allow other keys by the caller
(defun f (&key a) a) (f :a 1 :b 2 :allow-other-keys t)
;; --- first of repeated keys counts
(defun f (&key a) a) (f :a 1 :a 2)
;; --- aux variables
(defun f (a &aux (b (* a 2)) c) (list a b c)) (f 4)
;; --- rest and key together
(defun f (a &rest r &key b &allow-other-keys) (list a r b)) (f 1 :b 2 :c 3)
;; --- too few arguments
(defun f (a b) (list a b)) (f 1)
;; --- too many arguments
(defun f (a) a) (f 1 2)
;; --- unknown keyword
(defun f (&key a) a) (f :b 1)
;; --- odd keywords
(defun f (&key a) a) (funcall #'f :a)
;; --- destructuring with everything
(destructuring-bind (a (b &optional (c 3)) &rest r &key d &allow-other-keys) '(1 (2) :d 4 :e 5) (list a b c d r))
;; --- destructuring a dotted list
(destructuring-bind (a . b) '(1 2 3) (list a b))
;; --- destructuring too long
(destructuring-bind (a) '(1 2) a)
;; --- destructuring not a list
(destructuring-bind (a b) 5 (list a b))
;; --- do with several variables
(do ((i 0 (1+ i)) (acc nil (cons i acc))) ((= i 3) acc))
;; --- do star steps in order
(do* ((i 0 (1+ i)) (j i (* i 2))) ((> i 2) (list i j)))
;; --- do without step and with tags
(let ((n 0)) (do ((x 1)) ((> n 2) x) next (incf n)))
;; --- dolist result sees nil
(dolist (x '(1 2) x))
;; --- dotimes result sees the count
(dotimes (i 4 i))
;; --- dotimes closures
(let ((fs nil)) (dotimes (i 3) (let ((j i)) (push (lambda () j) fs))) (mapcar #'funcall fs))
;; --- prog and prog star
(list (prog ((a 1) b) (setq b (+ a 1)) (return (list a b))) (prog* ((a 1) (b (+ a 1))) (return (list a b))))
;; --- nth-value and multiple-value-call
(list (nth-value 1 (floor 17 5)) (multiple-value-call #'list (floor 17 5) 9 (values)))
;; --- multiple-value-prog1
(let ((x 1)) (multiple-value-list (multiple-value-prog1 (values x 2) (setq x 5))))
;; --- values of a function used for one
(defun f () (values 1 2 3)) (list (f) (+ (f) 1) (multiple-value-list (f)))
;; --- ccase with store-value
(let ((x 5)) (handler-bind ((type-error (lambda (c) (declare (ignore c)) (store-value 1)))) (list (ccase x (1 :one) (2 :two)) x)))
;; --- ctypecase with store-value
(let ((x 5)) (handler-bind ((type-error (lambda (c) (declare (ignore c)) (store-value "s")))) (list (ctypecase x (string :string)) x)))
;; --- assert with continue
(let ((n 0)) (handler-bind ((error (lambda (c) (declare (ignore c)) (setq n 5) (continue)))) (assert (> n 3) () "small ~a" n) n))
;; --- nested handlers decline and take
(let ((log nil)) (handler-case (handler-bind ((error (lambda (c) (declare (ignore c)) (push 1 log)))) (handler-bind ((error (lambda (c) (declare (ignore c)) (push 2 log)))) (error "x"))) (error () (reverse log))))
;; --- handler-case picks the first clause that fits
(handler-case (error 'division-by-zero) (arithmetic-error () :arithmetic) (division-by-zero () :division))
;; --- handler-case no-error
(handler-case (floor 7 2) (error () :error) (:no-error (q r) (list q r)))
;; --- signal without handler answers nil
(list (signal "x") (signal 'simple-condition))
;; --- restart-case with arguments and test
(handler-bind ((error (lambda (c) (invoke-restart (find-restart 'fix c) 1 2)))) (restart-case (error "x") (fix (a b) (list :fixed a b)) (other () :no)))
;; --- restart-bind runs in place
(let ((log nil)) (restart-bind ((note (lambda (x) (push x log) :noted))) (list (invoke-restart 'note 1) log)))
;; --- restarts innermost first
(restart-case (restart-case (invoke-restart 'r) (r () :inner)) (r () :outer))
;; --- with-simple-restart
(multiple-value-list (with-simple-restart (skip "Skip ~a." 1) (invoke-restart 'skip)))
;; --- muffled warning goes on
(let ((seen nil)) (handler-bind ((warning (lambda (c) (push (princ-to-string c) seen) (muffle-warning c)))) (warn "a ~a" 1) (warn "b")) seen)
;; --- cerror continues
(handler-bind ((error #'continue)) (list (cerror "go on" "bad") :after))
;; --- ignore-errors answers the condition
(multiple-value-bind (v c) (ignore-errors (error "bad ~a" 1)) (list v (princ-to-string c)))
;; --- no such restart
(handler-case (invoke-restart 'nowhere) (control-error () :control))
;; --- error in a handler
(handler-case (handler-bind ((error (lambda (c) (declare (ignore c)) (error 'type-error :datum 1 :expected-type 'string)))) (error "x")) (type-error () :type) (error () :other))
;; --- conditions inherit slots and initargs
(define-condition base (error) ((code :initarg :code :initform 1 :reader code))) (define-condition derived (base) ((more :initarg :more :reader more)) (:default-initargs :code 7)) (handler-case (error 'derived :more 2) (base (c) (list (code c) (more c))))
;; --- report as string
(define-condition plain (error) () (:report "plain trouble")) (handler-case (error 'plain) (error (c) (princ-to-string c)))
;; --- unbound variable names its symbol
(handler-case (symbol-value 'no-such-variable) (unbound-variable (c) (cell-error-name c)))
;; --- undefined function names its symbol
(handler-case (funcall 'no-such-function) (undefined-function (c) (cell-error-name c)))
;; --- type error holds its datum
(handler-case (car 5) (type-error (c) (list (type-error-datum c) (type-error-expected-type c))))
;; --- arithmetic error holds its operands
(handler-case (/ 7 0) (division-by-zero (c) (arithmetic-error-operands c)))
;; --- eval in the null environment
(let ((x 1)) (declare (ignorable x)) (handler-case (eval 'x) (unbound-variable () :unbound)))
;; --- eval defines
(eval '(defun made-by-eval (x) (* x 2))) (made-by-eval 4)
;; --- compile a lambda
(funcall (compile nil '(lambda (x) (+ x 1))) 4)
;; --- coerce a lambda to a function
(funcall (coerce '(lambda (x) (* x 3)) 'function) 4)
;; --- load-time-value and eval-when
(list (load-time-value (+ 1 2)) (eval-when (:execute) 4) (eval-when (:compile-toplevel) 5))
;; --- function objects by name
(list (funcall (symbol-function '+) 1 2) (funcall (fdefinition 'list) 1) (fboundp 'no-such-function))
;; --- setf symbol-function
(setf (symbol-function 'made) (lambda (x) (list :made x))) (made 1)
;; --- fmakunbound
(defun gone () 1) (fmakunbound 'gone) (handler-case (gone) (undefined-function () :gone))
;; --- constants cannot be set
(handler-case (eval '(setq t 1)) (error () :refused))
;; --- and, or, cond give values of the last
(list (multiple-value-list (and 1 (values 2 3))) (multiple-value-list (or nil (values 2 3))) (multiple-value-list (cond (nil) (t (values 4 5)))))
;; --- case with lists, nil and otherwise
(mapcar (lambda (x) (case x ((1 2) :few) (nil :never) ((nil) :nil) (t :rest))) '(1 nil 9))
;; --- tail call in every position
(defun f (n) (cond ((= n 0) :cond) (t (when t (progn (let ((m (- n 1))) (block nil (f m)))))))) (f 20000)
;; --- mutual recursion by apply and funcall
(defun ev (n) (if (= n 0) t (funcall #'od (- n 1)))) (defun od (n) (if (= n 0) nil (funcall 'ev (- n 1)))) (ev 5000)
