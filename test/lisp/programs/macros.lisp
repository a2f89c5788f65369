Macros, setf places, packages, types.

;; --- simple macro
(defmacro swap (a b) `(rotatef ,a ,b)) (let ((x 1) (y 2)) (swap x y) (list x y))
;; --- macro gives its name
(defmacro m () 1)
;; --- body and gensym
(defmacro my-unless (c &body body) `(if ,c nil (progn ,@body))) (list (my-unless nil 1 2) (my-unless t 1))
;; --- gensym avoids capture
(defmacro twice (form) (let ((v (gensym))) `(let ((,v ,form)) (+ ,v ,v)))) (let ((n 0)) (list (twice (incf n)) n))
;; --- macro with keys and optional
(defmacro m (a &optional (b 2) &key (c 3)) `(list ,a ,b ,c)) (list (m 1) (m 1 5) (m 1 5 :c 6))
;; --- destructuring lambda list
(defmacro m ((a (b c)) &rest r) `(list ',a ',b ',c ',r)) (m (1 (2 3)) 4 5)
;; --- dotted lambda list
(defmacro m (a . b) `(list ',a ',b)) (m 1 2 3)
;; --- whole
(defmacro m (&whole w a) `(list ',w ',a)) (m 1)
;; --- macroexpand-1
(defmacro m (x) `(+ ,x 1)) (multiple-value-list (macroexpand-1 '(m 5)))
;; --- macroexpand repeats
(defmacro a (x) `(b ,x)) (defmacro b (x) `(list ,x)) (list (macroexpand-1 '(a 1)) (macroexpand '(a 1)))
;; --- macroexpand of no macro
(multiple-value-list (macroexpand '(car x)))
;; --- macro-function
(defmacro m () 1) (list (not (null (macro-function 'm))) (macro-function 'car))
;; --- macrolet
(macrolet ((m (x) `(* ,x 2))) (m 5))
;; --- macrolet shadows function
(defun f (x) (list 'function x)) (macrolet ((f (x) `(list 'macro ,x))) (f 1))
;; --- macrolet with environment
(macrolet ((m () ''inner)) (macrolet ((n (&environment e) `',(macroexpand-1 '(m) e))) (n)))
;; --- flet shadows macro
(defmacro m (x) `(list 'macro ,x)) (flet ((m (x) (list 'local x))) (m 1))
;; --- symbol-macrolet
(let ((l (list 1 2))) (symbol-macrolet ((first-one (car l))) (setf first-one 10) (incf first-one) (list first-one l)))
;; --- symbol-macrolet shadowed
(symbol-macrolet ((x 'outer)) (list x (let ((x 'inner)) x)))
;; --- define-symbol-macro
(defvar *cell* (list 1)) (define-symbol-macro the-cell (car *cell*)) (setf the-cell 5) (list the-cell *cell*)
;; --- recursive macro
(defmacro my-and (&rest forms) (cond ((null forms) t) ((null (cdr forms)) (car forms)) (t `(if ,(car forms) (my-and ,@(cdr forms)) nil)))) (list (my-and) (my-and 1 2) (my-and nil (error "x")))
;; --- macro writing a macro
(defmacro def-adder (name n) `(defmacro ,name (x) `(+ ,x ,,n))) (def-adder add5 5) (add5 10)
;; --- anaphoric if
(defmacro aif (test then &optional else) `(let ((it ,test)) (if it ,then ,else))) (aif (find 2 '(1 2 3)) (* it 10))
;; --- while macro
(defmacro while (test &body body) `(loop (unless ,test (return)) ,@body)) (let ((n 0)) (while (< n 3) (princ n) (incf n)))
;; --- once-only by hand
(defmacro square (x) (let ((g (gensym "X"))) `(let ((,g ,x)) (* ,g ,g)))) (let ((n 3)) (list (square (incf n)) n))
;; --- macro with declarations in body
(defmacro with-x (v &body body) `(let ((x ,v)) (declare (ignorable x)) ,@body)) (with-x 5 (+ x 1))
;; --- macro too few arguments
(defmacro m (a b) (list 'list a b)) (handler-case (eval '(m 1)) (error () 'refused))
;; --- setf car cdr nth
(let ((l (list 1 2 3))) (setf (car l) 'a (cadr l) 'b (nth 2 l) 'c) l)
;; --- setf cdr and last
(let ((l (list 1 2))) (setf (cddr l) '(3)) (setf (cdr (last l)) '(4)) l)
;; --- setf aref and gethash
(let ((v (vector 1 2)) (h (make-hash-table))) (setf (aref v 0) 9 (gethash 'k h) 'v) (list v (gethash 'k h)))
;; --- setf returns the value
(let ((l (list 1))) (list (setf (car l) 5) (setf)))
;; --- setf getf
(let ((p (list :a 1))) (setf (getf p :b) 2 (getf p :a) 3) (list (getf p :a) (getf p :b) (getf p :c 'none)))
;; --- setf values
(let (a b) (setf (values a b) (floor 7 2)) (list a b))
;; --- setf get
(setf (get 'sym 'color) 'red) (list (get 'sym 'color) (get 'sym 'size 'none))
;; --- setf subseq and elt
(let ((s (list 1 2 3 4))) (setf (subseq s 1 3) '(a b)) (setf (elt s 0) 'z) s)
;; --- setf char
(let ((s (copy-seq "abc"))) (setf (char s 1) #\X) s)
;; --- setf the
(let ((x (list 1))) (setf (the integer (car x)) 5) x)
;; --- setf of a function form
(defun (setf second-of) (v l) (setf (cadr l) v)) (let ((l (list 1 2))) (setf (second-of l) 9) l)
;; --- incf decf with delta
(let ((x 10) (l (list 1))) (list (incf x 5) (decf x) (incf (car l) 2) x l))
;; --- incf evaluates place once
(let ((i 0) (v (vector 0 0 0))) (incf (aref v (incf i)) 5) (list i v))
;; --- push pop pushnew
(let ((l '())) (push 1 l) (push 2 l) (pushnew 1 l) (pushnew '(a) l :test #'equal) (pushnew '(a) l :test #'equal) (list (pop l) l (pop l)))
;; --- push onto a slot of a table
(let ((h (make-hash-table))) (push 1 (gethash 'a h)) (push 2 (gethash 'a h)) (incf (gethash 'n h 10)) (list (gethash 'a h) (gethash 'n h)))
;; --- rotatef and shiftf
(let ((a 1) (b 2) (c 3)) (rotatef a b c) (list a b c (shiftf a b 'new) a b))
;; --- psetf
(let ((a 1) (l (list 2))) (psetf a (car l) (car l) a) (list a l))
;; --- remf
(let ((p (list :a 1 :b 2))) (list (remf p :a) p (remf p :zz)))
;; --- defsetf short
(defun thing (l) (car l)) (defun set-thing (l v) (rplaca l v) v) (defsetf thing set-thing) (let ((l (list 1))) (setf (thing l) 7) l)
;; --- defsetf long
(defun mid (l) (second l)) (defsetf mid (l) (new) `(progn (setf (second ,l) ,new) ,new)) (let ((l (list 1 2 3))) (incf (mid l) 10) l)
;; --- define-modify-macro
(define-modify-macro appendf (&rest lists) append) (let ((l (list 1))) (appendf l '(2) '(3)) l)
;; --- define-setf-expander
(define-setf-expander lastcar (list) (let ((v (gensym)) (s (gensym))) (values (list v) (list list) (list s) `(progn (setf (car (last ,v)) ,s) ,s) `(car (last ,v))))) (let ((l (list 1 2 3))) (setf (lastcar l) 9) (incf (lastcar l)) l)
;; --- setf of ldb
(let ((x 0)) (setf (ldb (byte 4 4) x) 15) x)
;; --- setf of an unknown place
(handler-case (eval '(setf (no-such-place-fn 1) 2)) (error () 'refused))
;; --- setf of a constant
(handler-case (eval '(setf 5 6)) (error () 'refused))
;; --- setf nested accessors
(let ((l (list (list 1 2) (list 3 4)))) (setf (car (second l)) 'x) (incf (cadar l)) l)
;; --- setf symbol-value
(defvar *v* 1) (setf (symbol-value '*v*) 2) *v*
;; --- setf macro place
(defmacro head (l) `(car ,l)) (let ((l (list 1 2))) (setf (head l) 5) l)
;; --- deftype
(deftype small () '(integer 0 9)) (list (typep 5 'small) (typep 50 'small))
;; --- deftype with argument
(deftype below (n) `(integer 0 (,n))) (list (typep 5 '(below 6)) (typep 6 '(below 6)))
;; --- deftype in typecase
(deftype name () '(or symbol string)) (mapcar (lambda (x) (typecase x (name 'name) (t 'no))) '(a "b" 5))
;; --- typep compound
(list (typep 5 '(and integer (satisfies oddp))) (typep 5 '(or string null)) (typep 5 '(not string)) (typep 'a '(member a b)) (typep 5 '(eql 5)) (typep '(1 . 2) '(cons integer integer)))
;; --- typep numbers
(list (typep 5 '(integer 1 5)) (typep 5 '(integer 1 (5))) (typep 2.5 '(float 2.0 3.0)) (typep 1/2 'rational) (typep 5 '(mod 6)) (typep 255 '(unsigned-byte 8)) (typep 128 '(signed-byte 8)))
;; --- defpackage and symbols
(defpackage :zoo (:use :cl) (:export :lion)) (list (package-name (find-package :zoo)) (nth-value 1 (find-symbol "LION" :zoo)))
;; --- package functions
(defpackage :shop (:use :cl) (:export #:price)) (defun shop:price () 5) (list (shop:price) (eq 'shop:price (find-symbol "PRICE" :shop)))
;; --- internal symbol by two colons
(defpackage :shop2 (:use :cl)) (defun shop2::hidden () 'hidden) (symbol-name 'shop2::hidden)
;; --- internal symbol by one colon
(defpackage :shop3 (:use :cl)) (handler-case (read-from-string "shop3:hidden") (error () 'refused))
;; --- unknown package
(handler-case (read-from-string "no-such-package:x") (error () 'refused))
;; --- in-package
(defpackage :lab (:use :cl)) (in-package :lab) (defun f () 'here) (list (package-name *package*) (symbol-name (f)))
;; --- symbols print with package from elsewhere
(defpackage :lab2 (:use :cl) (:export #:out)) (list 'lab2:out 'lab2::in)
;; --- use-package
(defpackage :lib1 (:use :cl) (:export #:helper)) (defun lib1:helper () 'helped) (defpackage :app1 (:use :cl :lib1)) (in-package :app1) (symbol-name (helper))
;; --- import and export
(defpackage :lib4 (:use :cl)) (intern "THING" :lib4) (export (find-symbol "THING" :lib4) :lib4) (nth-value 1 (find-symbol "THING" :lib4))
;; --- intern and find-symbol
(list (nth-value 1 (intern "FRESH-SYMBOL")) (nth-value 1 (intern "FRESH-SYMBOL")) (multiple-value-list (find-symbol "NOT-THERE-AT-ALL")))
;; --- shadow
(defpackage :lib5 (:use :cl) (:shadow #:car)) (in-package :lib5) (defun car (x) (list 'my-car x)) (list (car 1) (cl:car '(2)))
;; --- import-from
(defpackage :lib6 (:use :cl) (:export #:a)) (defpackage :lib7 (:use :cl) (:import-from :lib6 #:a)) (eq 'lib6:a (find-symbol "A" :lib7))
;; --- nicknames
(defpackage :long-name (:use :cl) (:nicknames :ln) (:export #:x)) (eq 'ln:x 'long-name:x)
;; --- symbol-package
(list (package-name (symbol-package 'car)) (package-name (symbol-package :k)) (symbol-package '#:u))
;; --- list-all and delete
(defpackage :gone (:use :cl)) (delete-package :gone) (find-package :gone)
;; --- do-symbols over a small package
(defpackage :tiny (:use) (:export "A" "B")) (let (r) (do-external-symbols (s :tiny) (push (symbol-name s) r)) (sort r #'string<))
;; --- gensym and make-symbol
(list (symbolp (gensym)) (symbol-package (gensym)) (eq (make-symbol "A") (make-symbol "A")) (symbol-name (make-symbol "abc")))
;; --- gensym names
(let ((*gensym-counter* 5)) (list (symbol-name (gensym)) (symbol-name (gensym "X")) *gensym-counter*))
;; --- symbol-plist
(setf (get 'k 'a) 1 (get 'k 'b) 2) (list (get 'k 'a) (not (remprop 'k 'a)) (get 'k 'a) (symbol-plist 'k))
;; --- macros close over variables
(let ((x 5)) (defmacro closing (y) `(list ',x ,y)))
(closing 2)
;; --- macros with state
(let ((count 0)) (defmacro next-number () (incf count)))
(list (eval '(next-number)) (eval '(next-number)))
;; --- macro defaults use variables around them
(let ((base 10)) (defmacro scaled (x &optional (by base)) `(* ,x ,by)))
(list (scaled 3) (scaled 3 2))
;; --- define-setf-expander with an environment
(defun pair-head (x) (car x))
(define-setf-expander pair-head (x &environment env)
  (multiple-value-bind (temps values stores store access) (get-setf-expansion x env)
    (declare (ignore stores store))
    (let ((new (gensym)) (cell (gensym)))
      (values (append temps (list cell)) (append values (list access)) (list new) `(progn (rplaca ,cell ,new) ,new) `(car ,cell)))))
(let ((p (list 1 2))) (macrolet ((place () 'p)) (setf (pair-head (place)) 9)) p)
;; --- define-modify-macro with optional and rest parameters
(define-modify-macro appendf (&rest lists) append) (define-modify-macro scalef (&optional (by 2)) *) (let ((l (list 1)) (n 5)) (appendf l '(2) '(3)) (scalef n) (scalef n 10) (list l n))
;; --- defsetf with an environment
(defvar *cells* (list 1 2 3)) (defun cell (n) (nth n *cells*)) (defsetf cell (n &environment env) (new) (declare (ignore env)) `(setf (nth ,n *cells*) ,new)) (setf (cell 1) 'x) (incf (cell 2) 10) *cells*
;; --- a splice without a list
(handler-case (read-from-string "`,@nil") (error () :refused))
;; --- macros close over variables in default values
(progn (let ((x 5)) (defmacro m (&optional (a x) &key (b (* a 2))) `(list ,a ,b ,x))) (list (m) (m 1) (m 1 :b 3)))
