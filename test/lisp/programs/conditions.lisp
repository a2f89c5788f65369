Conditions, handlers, restarts.

;; --- handler-case catches by type
(list (handler-case (car 5) (type-error () 'type)) (handler-case (/ 1 0) (division-by-zero () 'zero)) (handler-case (error "x") (simple-error () 'simple)))
;; --- handler-case order
(handler-case (/ 1 0) (division-by-zero () 'first) (error () 'second))
;; --- handler-case general first
(handler-case (/ 1 0) (arithmetic-error () 'arithmetic) (division-by-zero () 'division))
;; --- handler-case no-error
(handler-case (values 1 2) (error () 'e) (:no-error (a b) (list 'fine a b)))
;; --- handler-case unmatched passes
(handler-case (handler-case (error "x") (type-error () 'inner)) (error () 'outer))
;; --- handler-case binds the condition
(handler-case (error "n = ~d" 5) (error (c) (princ-to-string c)))
;; --- handler-case or type
(handler-case (car 1) ((or type-error arithmetic-error) () 'either))
;; --- error with format arguments
(handler-case (error "~a and ~s" "x" "y") (simple-condition (c) (list (simple-condition-format-control c) (simple-condition-format-arguments c))))
;; --- type-error slots
(handler-case (car 5) (type-error (c) (list (type-error-datum c) (type-error-expected-type c))))
;; --- type-error of addition
(handler-case (+ 1 'a) (type-error (c) (list (type-error-datum c) (type-error-expected-type c))))
;; --- arithmetic-error operands
(handler-case (/ 7 0) (arithmetic-error (c) (list (arithmetic-error-operation c) (arithmetic-error-operands c))))
;; --- ignore-errors
(multiple-value-bind (v c) (ignore-errors (error "x")) (list v (typep c 'simple-error)))
;; --- ignore-errors passes values
(multiple-value-list (ignore-errors (floor 7 2)))
;; --- ignore-errors lets signals pass
(ignore-errors (signal 'simple-condition) 'went-on)
;; --- handler-bind declines
(handler-case (handler-bind ((error (lambda (c) (declare (ignore c)) (princ "seen ")))) (error "x")) (error () 'caught))
;; --- handler-bind runs before unwinding
(let (r) (handler-case (handler-bind ((error (lambda (c) (declare (ignore c)) (push 'handler r)))) (unwind-protect (error "x") (push 'cleanup r))) (error () (push 'case r))) (reverse r))
;; --- handler-bind transfers
(block b (handler-bind ((error (lambda (c) (return-from b (type-of c))))) (error "x")))
;; --- handlers run outside their own scope
(handler-case (handler-bind ((error (lambda (c) (declare (ignore c)) (error 'type-error :datum 1 :expected-type 'string)))) (error "x")) (type-error () 'second) (error () 'first))
;; --- inner handler first
(let (r) (handler-bind ((error (lambda (c) (declare (ignore c)) (push 'outer r)))) (ignore-errors (handler-bind ((error (lambda (c) (declare (ignore c)) (push 'inner r)))) (error "x")))) (reverse r))
;; --- several clauses of one bind
(let (r) (ignore-errors (handler-bind ((type-error (lambda (c) (declare (ignore c)) (push 'type r))) (error (lambda (c) (declare (ignore c)) (push 'error r)))) (car 1))) (reverse r))
;; --- signal returns nil
(list (signal "nothing") (signal 'simple-condition))
;; --- signal handled
(handler-case (signal 'simple-condition :format-control "x" :format-arguments nil) (condition (c) (type-of c)))
;; --- define-condition with slots
(define-condition oops (error) ((code :initarg :code :reader oops-code)) (:report (lambda (c s) (format s "oops ~a" (oops-code c))))) (handler-case (error 'oops :code 7) (oops (c) (list (oops-code c) (princ-to-string c))))
;; --- report string
(define-condition oops (error) () (:report "it broke")) (handler-case (error 'oops) (error (c) (format nil "~a" c)))
;; --- condition inheritance
(define-condition a (error) ((x :initarg :x :initform 1 :reader x))) (define-condition b (a) ((y :initarg :y :reader y))) (handler-case (error 'b :y 2) (a (c) (list (x c) (y c) (typep c 'b))))
;; --- condition with two parents
(define-condition a (error) ()) (define-condition b (warning) ()) (define-condition c (a b) ()) (list (typep (make-condition 'c) 'a) (typep (make-condition 'c) 'warning) (subtypep 'c 'error))
;; --- own condition unhandled
(define-condition oops (error) ()) (error 'oops)
;; --- own condition not an error
(define-condition note (condition) ()) (list (signal 'note) (handler-case (signal 'note) (note () 'handled)))
;; --- error with a condition object
(define-condition oops (error) ()) (let ((c (make-condition 'oops))) (handler-case (error c) (oops (d) (eq c d))))
;; --- default-initargs of a condition
(define-condition oops (error) ((x :initarg :x :reader x)) (:default-initargs :x 5)) (x (make-condition 'oops))
;; --- simple error unhandled
(error "boom ~a" 1)
;; --- warn continues
(progn (warn "careful") 'after)
;; --- warning handled
(handler-case (warn "careful ~a" 1) (warning (c) (list (type-of c) (princ-to-string c))))
;; --- muffle-warning
(handler-bind ((warning (lambda (c) (princ "w ") (muffle-warning c)))) (warn "x") 'went-on)
;; --- warn returns nil
(list (warn "x"))
;; --- warn of own type
(define-condition my-warning (warning) ()) (handler-case (warn 'my-warning) (my-warning () 'mine))
;; --- restart-case use
(restart-case (invoke-restart 'fix 5) (fix (x) (* x 2)))
;; --- restart-case normal return
(restart-case 42 (fix () 0))
;; --- restart chosen by handler
(handler-bind ((error (lambda (c) (declare (ignore c)) (invoke-restart 'use-zero)))) (+ 1 (restart-case (error "x") (use-zero () 0))))
;; --- restart with arguments
(handler-bind ((error (lambda (c) (declare (ignore c)) (invoke-restart 'answer 1 2)))) (restart-case (error "x") (answer (a b &optional (c 3)) (list a b c))))
;; --- use-value
(handler-bind ((error (lambda (c) (declare (ignore c)) (use-value 7)))) (restart-case (error "x") (use-value (v) (list 'used v))))
;; --- store-value
(handler-bind ((error (lambda (c) (store-value 7 c)))) (restart-case (error "x") (store-value (v) (list 'stored v))))
;; --- cerror continue
(handler-bind ((error (lambda (c) (continue c)))) (list (cerror "go on" "bad ~a" 1) 'after))
;; --- cerror unhandled
(cerror "go on" "bad")
;; --- with-simple-restart
(multiple-value-list (with-simple-restart (skip "skip it") (invoke-restart 'skip) 'not-reached))
;; --- with-simple-restart normal
(multiple-value-list (with-simple-restart (skip "skip it") (values 1 2)))
;; --- nested restarts same name
(restart-case (restart-case (invoke-restart 'r) (r () 'inner)) (r () 'outer))
;; --- outer restart reachable
(restart-case (restart-case (invoke-restart 'b) (a () 'inner)) (b () 'outer))
;; --- invoke missing restart
(invoke-restart 'no-such-restart)
;; --- find-restart
(restart-case (list (not (null (find-restart 'here))) (find-restart 'not-here)) (here () 1))
;; --- compute-restarts order
(restart-case (restart-case (subseq (mapcar #'restart-name (compute-restarts)) 0 2) (inner () 1)) (outer () 2))
;; --- restart-bind
(block b (restart-bind ((jump (lambda (x) (return-from b (list 'jumped x))))) (invoke-restart 'jump 3)))
;; --- restart-bind returns to the caller
(restart-bind ((note (lambda () 5))) (+ 1 (invoke-restart 'note)))
;; --- retry pattern
(let ((n 0)) (loop (restart-case (handler-bind ((error (lambda (c) (declare (ignore c)) (invoke-restart 'retry)))) (incf n) (if (< n 3) (error "again") (return (list 'done n)))) (retry () nil))))
;; --- restart report
(restart-case (princ-to-string (find-restart 'fix)) (fix () :report "Fix it." 1))
;; --- restart test
(restart-case (list (find-restart 'never) (not (null (find-restart 'always)))) (never () :test (lambda (c) (declare (ignore c)) nil) 1) (always () 2))
;; --- handler sees restarts of signal point
(handler-bind ((error (lambda (c) (princ (restart-name (find-restart 'local c))) (invoke-restart 'local)))) (restart-case (error "x") (local () 'done)))
;; --- abort restart by with-simple-restart
(with-simple-restart (abort "stop") (abort))
;; --- error in handler-case clause escapes
(handler-case (handler-case (error "a") (error () (error "b"))) (error (c) (princ-to-string c)))
;; --- deep signal through frames
(defun f (n) (if (zerop n) (error "deep") (1+ (f (1- n))))) (handler-case (f 100) (error (c) (princ-to-string c)))
;; --- unbound variable handled
(handler-case no-such-variable (unbound-variable (c) (cell-error-name c)))
;; --- undefined function handled
(handler-case (no-such-function) (undefined-function (c) (cell-error-name c)))
;; --- program-error on arguments
(defun f (x) x) (list (handler-case (f) (program-error () 'few)) (handler-case (f 1 2) (program-error () 'many)))
;; --- program-error on keywords
(defun f (&key a) a) (list (handler-case (f :b 1) (program-error () 'unknown)) (handler-case (f :a) (program-error () 'odd)))
;; --- control-error on throw
(handler-case (throw 'nowhere 1) (control-error () 'control))
;; --- parse-error
(handler-case (parse-integer "x1") (parse-error () 'parse))
;; --- index out of bounds
(handler-case (aref (vector 1 2) 5) (error (c) (typep c 'type-error)))
;; --- elt out of bounds
(handler-case (elt '(1 2) 5) (error (c) (typep c 'type-error)))
;; --- make-condition and print
(let ((c (make-condition 'simple-error :format-control "v ~a" :format-arguments '(1)))) (format nil "~a" c))
;; --- error accepts type names
(handler-case (error 'division-by-zero :operation '/ :operands '(1 0)) (arithmetic-error (c) (arithmetic-error-operands c)))
;; --- error of type-error
(handler-case (error 'type-error :datum 1 :expected-type 'string) (type-error (c) (list (type-error-datum c) (type-error-expected-type c))))
;; --- error with unknown type
(handler-case (error 'no-such-condition-type) (error () 'some-error))
;; --- error with a number
(error 5)
;; --- handler by t
(handler-case (error "x") (t () 'anything))
;; --- serious-condition
(handler-case (error "x") (serious-condition () 'serious))
;; --- nested handler-case same type
(handler-case (progn (handler-case (error "a") (error () (princ "inner "))) (error "b")) (error (c) (princ-to-string c)))
;; --- handler-bind with named function
(defun on-error (c) (declare (ignore c)) (throw 'got 'it)) (catch 'got (handler-bind ((error #'on-error)) (error "x")))
;; --- signalled in a mapcar
(handler-case (mapcar (lambda (x) (/ 10 x)) '(1 2 0)) (division-by-zero () 'zero))
;; --- restarts collected in a loop
(defun parse-all (items) (loop for x in items collect (restart-case (if (numberp x) x (error "bad ~a" x)) (use-value (v) v) (skip () :skipped)))) (handler-bind ((error (lambda (c) (declare (ignore c)) (invoke-restart 'skip)))) (parse-all '(1 a 2)))
;; --- handler-case in tail of a loop
(loop for x in '(1 a 2) collect (handler-case (+ x 1) (type-error () 'bad)))
;; --- unwind on handler-case with specials
(defvar *depth* 0) (defun deep () (let ((*depth* (1+ *depth*))) (if (> *depth* 5) (error "too deep") (deep)))) (list (handler-case (deep) (error () *depth*)) *depth*)
;; --- break on nothing
(handler-case (let ((*break-on-signals* nil)) (signal 'condition) 'no-break) (error () 'error))
;; --- condition type-of and class
(list (type-of (make-condition 'simple-error)) (typep (make-condition 'simple-warning) 'warning) (typep (make-condition 'division-by-zero) 'arithmetic-error) (typep (make-condition 'unbound-variable :name 'x) 'cell-error) (subtypep 'reader-error 'parse-error) (subtypep 'simple-error 'simple-condition))
;; --- with-condition-restarts
(let ((c (make-condition 'simple-error :format-control "x" :format-arguments nil))) (restart-case (with-condition-restarts c (list (find-restart 'mine)) (not (null (find-restart 'mine c)))) (mine () 1)))
;; --- invoke-restart by object
(restart-case (invoke-restart (find-restart 'r) 4) (r (x) (list 'r x)))
;; --- restarts of restart-case belong to the condition it signals
(handler-bind ((error (lambda (c2) (invoke-restart (find-restart 'foo c2)))))
  (handler-bind ((error (lambda (c) (declare (ignore c)) (error "Blah"))))
    (restart-case (restart-case (error "Boo!") (foo () 'bad)) (foo () 'good))))
;; --- the same for signal, warn and cerror
(flet ((try (thunk) (handler-bind ((error (lambda (c2) (invoke-restart (find-restart 'foo c2))))) (handler-bind ((condition (lambda (c) (declare (ignore c)) (error "Blah")))) (restart-case (funcall thunk) (foo () 'good))))))
  (list (try (lambda () (restart-case (signal "Boo!") (foo () 'bad)))) (try (lambda () (restart-case (warn "Boo!") (foo () 'bad)))) (try (lambda () (restart-case (cerror "go" "Boo ~a" 1) (foo () 'bad))))))
;; --- compute-restarts leaves out restarts of another condition
(let ((other (make-condition 'error)))
  (block done
    (handler-bind ((error (lambda (c) (return-from done (list (count 'foo (compute-restarts other) :key #'restart-name) (count 'foo (compute-restarts c) :key #'restart-name) (count 'foo (compute-restarts) :key #'restart-name))))))
      (restart-case (error "an error") (foo () 'bad) (foo () 'also-bad)))))
;; --- restart-case of a macro that signals
(macrolet ((%m (&rest args) (cons 'error args)))
  (handler-bind ((error (lambda (c2) (invoke-restart (find-restart 'foo c2)))))
    (handler-bind ((error (lambda (c) (declare (ignore c)) (error "Blah"))))
      (restart-case (restart-case (%m "Boo!") (foo () 'bad)) (foo () 'good)))))
;; --- continue of a cerror in restart-case
(handler-bind ((error #'continue)) (restart-case (list (cerror "Go on with ~a" "Stopped at ~a" 7) :after) (foo () 'bad)))
