Classes, generic functions and methods.

;; --- class and accessors
(defclass point () ((x :initarg :x :accessor px) (y :initarg :y :initform 0 :accessor py))) (let ((p (make-instance 'point :x 1))) (setf (px p) 5) (list (px p) (py p)))
;; --- reader and writer
(defclass a () ((v :initarg :v :reader v :writer set-v))) (let ((a (make-instance 'a :v 1))) (set-v 2 a) (v a))
;; --- setf writer
(defclass a () ((v :writer (setf v) :reader v))) (let ((a (make-instance 'a))) (setf (v a) 3) (v a))
;; --- slot-value
(defclass a () ((x :initform 1))) (let ((a (make-instance 'a))) (incf (slot-value a 'x)) (slot-value a 'x))
;; --- unbound slot
(defclass a () (x)) (slot-value (make-instance 'a) 'x)
;; --- missing slot
(defclass a () (x)) (handler-case (slot-value (make-instance 'a) 'y) (error () 'no-such-slot))
;; --- slot-boundp and makunbound
(defclass a () ((x :initform 1))) (let ((a (make-instance 'a))) (list (slot-boundp a 'x) (progn (slot-makunbound a 'x) (slot-boundp a 'x)) (slot-exists-p a 'x) (slot-exists-p a 'zz)))
;; --- unbound slot handled by name
(defclass a () (x)) (handler-case (slot-value (make-instance 'a) 'x) (unbound-slot (c) (cell-error-name c)))
;; --- inheritance
(defclass a () ((x :initform 1 :reader x))) (defclass b (a) ((y :initform 2 :reader y))) (let ((b (make-instance 'b))) (list (x b) (y b) (typep b 'a) (typep b 'b) (typep (make-instance 'a) 'b)))
;; --- initform overridden below
(defclass a () ((x :initform 1 :reader x))) (defclass b (a) ((x :initform 2))) (x (make-instance 'b))
;; --- initargs of both
(defclass a () ((x :initarg :x :reader x))) (defclass b (a) ((x :initarg :ex))) (list (x (make-instance 'b :x 1)) (x (make-instance 'b :ex 2)))
;; --- class allocation
(defclass a () ((count :initform 0 :allocation :class :accessor n))) (incf (n (make-instance 'a))) (incf (n (make-instance 'a))) (n (make-instance 'a))
;; --- default-initargs
(defclass a () ((x :initarg :x :reader x)) (:default-initargs :x 42)) (list (x (make-instance 'a)) (x (make-instance 'a :x 1)))
;; --- default-initargs inherited
(defclass a () ((x :initarg :x :reader x)) (:default-initargs :x 1)) (defclass b (a) () (:default-initargs :x 2)) (x (make-instance 'b))
;; --- unknown initarg
(defclass a () ()) (handler-case (make-instance 'a :zz 1) (error () 'refused))
;; --- unknown class
(handler-case (make-instance 'no-such-class) (error () 'refused))
;; --- multiple inheritance order
(defclass a () ()) (defclass b (a) ()) (defclass c (a) ()) (defclass d (b c) ()) (defgeneric who (x)) (defmethod who ((x a)) '(a)) (defmethod who ((x b)) (cons 'b (call-next-method))) (defmethod who ((x c)) (cons 'c (call-next-method))) (defmethod who ((x d)) (cons 'd (call-next-method))) (who (make-instance 'd))
;; --- impossible precedence
(defclass a () ()) (defclass b (a) ()) (handler-case (progn (defclass c (a b) ()) (make-instance 'c)) (error () 'refused))
;; --- methods on built-in classes
(defgeneric kind (x)) (defmethod kind ((x integer)) 'integer) (defmethod kind ((x number)) 'number) (defmethod kind ((x string)) 'string) (defmethod kind ((x symbol)) 'symbol) (defmethod kind ((x list)) 'list) (defmethod kind ((x null)) 'null) (defmethod kind ((x t)) 'other) (mapcar #'kind (list 1 1.5 1/2 "s" 's nil '(1) #\a #(1)))
;; --- method on vector array sequence
(defgeneric kind (x)) (defmethod kind ((x sequence)) 'sequence) (defmethod kind ((x vector)) (list 'vector (call-next-method))) (defmethod kind ((x cons)) (list 'cons (call-next-method))) (mapcar #'kind (list #(1) '(1) nil "s"))
;; --- methods on function character hash-table
(defgeneric kind (x)) (defmethod kind ((x function)) 'function) (defmethod kind ((x character)) 'character) (defmethod kind ((x hash-table)) 'table) (defmethod kind ((x float)) 'float) (defmethod kind ((x ratio)) 'ratio) (mapcar #'kind (list #'car #\a (make-hash-table) 1.5 1/2))
;; --- eql specialiser
(defgeneric f (x)) (defmethod f ((x (eql 1))) 'one) (defmethod f ((x (eql 'a))) 'the-a) (defmethod f ((x integer)) 'int) (defmethod f (x) 'any) (mapcar #'f (list 1 2 'a 'b))
;; --- eql specialiser and next method
(defgeneric f (x)) (defmethod f ((x (eql 0))) (list 'zero (call-next-method))) (defmethod f ((x integer)) (list 'int x)) (f 0)
;; --- two arguments
(defgeneric meet (a b)) (defmethod meet ((a integer) (b integer)) 'ii) (defmethod meet ((a integer) b) 'i*) (defmethod meet (a (b integer)) '*i) (defmethod meet (a b) '**) (list (meet 1 1) (meet 1 'x) (meet 'x 1) (meet 'x 'x))
;; --- leftmost argument wins
(defclass a () ()) (defclass b (a) ()) (defgeneric m (x y)) (defmethod m ((x a) (y b)) 'ab) (defmethod m ((x b) (y a)) 'ba) (m (make-instance 'b) (make-instance 'b))
;; --- before and after
(defgeneric f (x)) (defmethod f (x) (princ "main ") x) (defmethod f :before (x) (princ "before ")) (defmethod f :after (x) (princ "after ")) (f 1)
;; --- order of before and after
(defclass a () ()) (defclass b (a) ()) (defgeneric f (x)) (defmethod f ((x a)) (princ "A ")) (defmethod f ((x b)) (princ "B ") (call-next-method)) (defmethod f :before ((x a)) (princ "ba ")) (defmethod f :before ((x b)) (princ "bb ")) (defmethod f :after ((x a)) (princ "aa ")) (defmethod f :after ((x b)) (princ "ab ")) (f (make-instance 'b)) nil
;; --- around
(defgeneric f (x)) (defmethod f (x) (* x 2)) (defmethod f :around (x) (list 'around (call-next-method) (call-next-method (+ x 1)))) (f 5)
;; --- around skips everything
(defgeneric f (x)) (defmethod f (x) (princ "main")) (defmethod f :before (x) (princ "before")) (defmethod f :around ((x integer)) 'skipped) (f 1)
;; --- two arounds
(defgeneric f (x)) (defmethod f (x) (list 'main x)) (defmethod f :around ((x integer)) (list 'int (call-next-method))) (defmethod f :around ((x number)) (list 'num (call-next-method))) (f 1)
;; --- next-method-p
(defgeneric f (x)) (defmethod f ((x integer)) (list 'int (next-method-p) (call-next-method))) (defmethod f ((x number)) (list 'num (next-method-p))) (f 1)
;; --- no next method
(defgeneric f (x)) (defmethod f ((x integer)) (call-next-method)) (handler-case (f 1) (error () 'no-next))
;; --- no applicable method
(defgeneric f (x)) (defmethod f ((x integer)) x) (handler-case (f "s") (error () 'none))
;; --- no applicable method unhandled
(defgeneric f (x)) (f 1)
;; --- own no-applicable-method
(defgeneric f (x)) (defmethod no-applicable-method ((g (eql #'f)) &rest args) (list 'none args)) (f 1)
;; --- call-next-method with arguments
(defgeneric f (x)) (defmethod f ((x number)) (list 'num x)) (defmethod f ((x integer)) (call-next-method (* x 100))) (f 2)
;; --- call-next-method in closure
(defgeneric f (x)) (defmethod f ((x number)) (list 'num x)) (defmethod f ((x integer)) (mapcar (lambda (y) (list y (call-next-method))) '(a b))) (f 2)
;; --- optional and key arguments
(defgeneric f (x &optional y)) (defmethod f ((x integer) &optional (y 10)) (+ x y)) (list (f 1) (f 1 2))
;; --- key arguments
(defgeneric f (x &key)) (defmethod f ((x integer) &key (by 1)) (+ x by)) (list (f 1) (f 1 :by 5))
;; --- rest argument
(defgeneric f (x &rest more)) (defmethod f ((x integer) &rest more) (list x more)) (f 1 2 3)
;; --- defmethod makes the generic function
(defmethod area ((x integer)) (* x x)) (area 3)
;; --- methods in defgeneric
(defgeneric f (x) (:method ((x integer)) 'int) (:method ((x string)) 'str) (:documentation "Says what x is.")) (list (f 1) (f "s"))
;; --- redefined method replaces
(defgeneric f (x)) (defmethod f ((x integer)) 1) (defmethod f ((x integer)) 2) (f 0)
;; --- method added after a call
(defgeneric f (x)) (defmethod f ((x number)) 'number) (let ((before (f 1))) (defmethod f ((x integer)) 'integer) (list before (f 1)))
;; --- setf method
(defclass a () ((v :initform 0))) (defgeneric (setf val) (new a)) (defmethod (setf val) (new (a a)) (setf (slot-value a 'v) (* 2 new))) (let ((a (make-instance 'a))) (list (setf (val a) 4) (slot-value a 'v)))
;; --- initialize-instance after
(defclass a () ((x :initarg :x :reader x) (y :reader y))) (defmethod initialize-instance :after ((a a) &key) (setf (slot-value a 'y) (* 10 (x a)))) (y (make-instance 'a :x 3))
;; --- initialize-instance with own key
(defclass a () ((y :reader y))) (defmethod initialize-instance :after ((a a) &key start) (setf (slot-value a 'y) start)) (y (make-instance 'a :start 7))
;; --- initialize-instance around
(defclass a () ((x :initarg :x :reader x))) (defmethod initialize-instance :around ((a a) &rest args &key x) (declare (ignore args)) (call-next-method a :x (* 2 x))) (x (make-instance 'a :x 4))
;; --- primary initialize-instance calls next
(defclass a () ((x :initarg :x :reader x))) (defmethod initialize-instance ((a a) &rest args) (declare (ignore args)) (princ "init ") (call-next-method)) (x (make-instance 'a :x 4))
;; --- reinitialize-instance
(defclass a () ((x :initarg :x :reader x) (y :initform 1 :reader y))) (let ((a (make-instance 'a :x 1))) (reinitialize-instance a :x 5) (list (x a) (y a)))
;; --- shared-initialize after
(defclass a () ((x :initarg :x :accessor x))) (defmethod shared-initialize :after ((a a) names &key) (declare (ignore names)) (princ "shared ")) (reinitialize-instance (make-instance 'a :x 1)) nil
;; --- print-object
(defclass a () ((n :initarg :n))) (defmethod print-object ((a a) stream) (format stream "<A ~a>" (slot-value a 'n))) (list (make-instance 'a :n 1) (format nil "~a ~s" (make-instance 'a :n 2) (make-instance 'a :n 3)))
;; --- print-unreadable-object
(defclass a () ()) (defmethod print-object ((a a) stream) (print-unreadable-object (a stream :type t) (princ "inside" stream))) (prin1-to-string (make-instance 'a))
;; --- print-unreadable-object without type
(defclass a () ()) (defmethod print-object ((a a) stream) (print-unreadable-object (a stream) (princ "inside" stream))) (prin1-to-string (make-instance 'a))
;; --- with-slots
(defclass a () ((x :initform 1) (y :initform 2))) (let ((a (make-instance 'a))) (with-slots (x (why y)) a (setf x 10) (incf why) (list x why (slot-value a 'x) (slot-value a 'y))))
;; --- with-accessors
(defclass a () ((x :initform 1 :accessor ax))) (let ((a (make-instance 'a))) (with-accessors ((x ax)) a (incf x 5) (list x (ax a))))
;; --- class-of and class-name
(defclass a () ()) (list (class-name (class-of (make-instance 'a))) (class-name (find-class 'a)) (find-class 'nowhere nil) (type-of (make-instance 'a)))
;; --- class-of built-in
(list (class-name (class-of 'a)) (class-name (class-of nil)) (class-name (class-of '(1))))
;; --- find-class error
(handler-case (find-class 'nowhere) (error () 'refused))
;; --- make-instance by class object
(defclass a () ((x :initform 3 :reader x))) (x (make-instance (find-class 'a)))
;; --- subtypep of classes
(defclass a () ()) (defclass b (a) ()) (list (multiple-value-list (subtypep 'b 'a)) (multiple-value-list (subtypep 'a 'b)) (subtypep 'a 'standard-object) (subtypep 'b t))
;; --- typecase of classes
(defclass a () ()) (defclass b (a) ()) (mapcar (lambda (x) (typecase x (b 'b) (a 'a) (standard-object 'object) (t 'other))) (list (make-instance 'a) (make-instance 'b) 5))
;; --- change-class
(defclass a () ((x :initarg :x :reader x))) (defclass b () ((x :reader bx) (y :initform 'new :reader y))) (let ((a (make-instance 'a :x 1))) (change-class a 'b) (list (bx a) (y a) (class-name (class-of a))))
;; --- method combination plus
(defgeneric total (x) (:method-combination +)) (defmethod total + ((x integer)) x) (defmethod total + ((x number)) 100) (total 5)
;; --- method combination list
(defgeneric all (x) (:method-combination list)) (defmethod all list ((x integer)) 'int) (defmethod all list ((x number)) 'num) (all 5)
;; --- method combination append and progn
(defgeneric all (x) (:method-combination append)) (defmethod all append ((x integer)) '(int)) (defmethod all append ((x t)) '(t)) (defgeneric go-all (x) (:method-combination progn)) (defmethod go-all progn ((x integer)) (princ "i")) (defmethod go-all progn ((x t)) (princ "t") 'last) (list (all 1) (go-all 1))
;; --- method combination or and max
(defgeneric any (x) (:method-combination or)) (defmethod any or ((x integer)) nil) (defmethod any or ((x t)) 'found) (defgeneric best (x) (:method-combination max)) (defmethod best max ((x integer)) 1) (defmethod best max ((x t)) 9) (list (any 1) (best 1))
;; --- combination with around
(defgeneric total (x) (:method-combination +)) (defmethod total + ((x integer)) x) (defmethod total + ((x number)) 1) (defmethod total :around ((x integer)) (list 'sum (call-next-method))) (total 5)
;; --- generic function is a function
(defgeneric f (x)) (defmethod f (x) (list x)) (list (functionp #'f) (mapcar #'f '(1 2)) (funcall 'f 3) (apply #'f '(4)))
;; --- accessor is generic and takes methods
(defclass a () ((x :initform 1 :accessor x))) (defmethod x :around ((a a)) (list 'x (call-next-method))) (x (make-instance 'a))
;; --- slot initforms evaluated each time
(defvar *n* 0) (defclass a () ((id :initform (incf *n*) :reader id))) (list (id (make-instance 'a)) (id (make-instance 'a)))
;; --- initform not used when given
(defclass a () ((x :initarg :x :initform (error "not needed") :reader x))) (x (make-instance 'a :x 1))
;; --- return-from in a method
(defgeneric f (x)) (defmethod f ((x integer)) (return-from f 'early)) (f 1)
;; --- multiple values from a method
(defgeneric f (x)) (defmethod f (x) (values x (1+ x))) (defmethod f :after (x) 'ignored) (multiple-value-list (f 1))
;; --- method on condition
(define-condition oops (error) ((why :initarg :why :reader why))) (defgeneric say (c)) (defmethod say ((c error)) 'error) (defmethod say ((c oops)) (list 'oops (why c))) (list (say (make-condition 'oops :why 1)) (say (make-condition 'simple-error)))
;; --- redefined class keeps working
(defclass a () ((x :initform 1 :reader x))) (x (make-instance 'a)) (defclass a () ((x :initform 2 :reader x))) (x (make-instance 'a))
;; --- method with ignored wrong argument count
(defgeneric f (x)) (defmethod f (x) x) (handler-case (f) (error () 'refused))
;; --- incongruent lambda list
(defgeneric f (x)) (handler-case (progn (defmethod f (x y) x) 'accepted) (error () 'refused))
;; --- object graph
(defclass node () ((val :initarg :val :reader val) (next :initarg :next :initform nil :accessor next))) (let ((n (make-instance 'node :val 1 :next (make-instance 'node :val 2)))) (loop for x = n then (next x) while x collect (val x)))
;; --- visitor
(defclass expr () ()) (defclass num (expr) ((v :initarg :v :reader v))) (defclass add (expr) ((l :initarg :l :reader l) (r :initarg :r :reader r))) (defgeneric ev (e)) (defmethod ev ((e num)) (v e)) (defmethod ev ((e add)) (+ (ev (l e)) (ev (r e)))) (ev (make-instance 'add :l (make-instance 'num :v 1) :r (make-instance 'add :l (make-instance 'num :v 2) :r (make-instance 'num :v 3))))
;; --- slot-unbound method
(defclass a () (x)) (defmethod slot-unbound (class (a a) name) (declare (ignore class)) (list 'unbound name)) (slot-value (make-instance 'a) 'x)
;; --- slot-missing method
(defclass a () ()) (defmethod slot-missing (class (a a) name op &optional new) (declare (ignore class new)) (list name op)) (slot-value (make-instance 'a) 'q)
;; --- find-method and remove-method
(defgeneric f (x)) (defmethod f ((x integer)) 'int) (defmethod f ((x t)) 'any) (remove-method #'f (find-method #'f '() (list (find-class 'integer)))) (f 1)
;; --- allocate-instance
(defclass a () ((x :initform 1))) (slot-boundp (allocate-instance (find-class 'a)) 'x)
;; --- key checking of a method
(defgeneric f (x &key)) (defmethod f ((x integer) &key a) (list x a)) (handler-case (f 1 :b 2) (error () 'refused))
;; --- redefined class moves its objects
(defclass a () ((x :initform 1 :accessor x))) (defvar *a* (make-instance 'a)) (setf (x *a*) 5) (defclass a () ((y :initform 2 :accessor y) (x :accessor x))) (list (x *a*) (typep *a* 'a) (slot-exists-p *a* 'y))
;; --- redefined superclass reaches objects of subclasses
(defclass a () ((x :initform 1))) (defclass b (a) ()) (defvar *b* (make-instance 'b)) (defclass a () ((x :initform 1) (z :initform 3 :reader z))) (list (slot-exists-p *b* 'z) (z (make-instance 'b)) (typep *b* 'a))
;; --- superclass defined later
(defclass b (a) ((y :initform 2 :reader y))) (defclass a () ((x :initform 1 :reader x))) (let ((b (make-instance 'b))) (list (x b) (y b)))
;; --- superclass never defined
(defclass b (never) ()) (handler-case (make-instance 'b) (error () 'refused))
;; --- print-object calls the next method
(defclass a () ()) (defclass b (a) ()) (defmethod print-object ((x a) s) (princ "<a>" s)) (defmethod print-object ((x b) s) (princ "b:" s) (call-next-method)) (princ-to-string (make-instance 'b))
;; --- print-object inside lists
(defclass a () ((n :initarg :n))) (defmethod print-object ((x a) s) (format s "{~s}" (slot-value x 'n))) (format nil "~a ~s" (list (make-instance 'a :n "q")) (vector (make-instance 'a :n 'z)))
;; --- print-object of included structures
(defstruct base n) (defstruct (sub (:include base)) m) (defmethod print-object ((b base) s) (format s "<~a>" (base-n b))) (princ-to-string (make-sub :n 1 :m 2))
;; --- setf method with next method
(defclass a () ((v :accessor v :initform 0))) (defclass b (a) ()) (defmethod (setf v) :around (new (b b)) (call-next-method (* 10 new) b)) (let ((b (make-instance 'b))) (setf (v b) 4) (v b))
;; --- diamond of initforms
(defclass a () ((x :initform 'a :reader x))) (defclass b (a) ()) (defclass c (a) ((x :initform 'c))) (defclass d (b c) ()) (x (make-instance 'd))
;; --- diamond of before methods
(defclass a () ()) (defclass b (a) ()) (defclass c (a) ()) (defclass d (b c) ()) (defgeneric f (x)) (defmethod f ((x a)) (princ "A")) (dolist (k '(b c d)) (eval `(defmethod f :before ((x ,k)) (princ ',k)))) (f (make-instance 'd)) nil
;; --- call-next-method sees changed arguments only when told
(defgeneric f (x)) (defmethod f ((x number)) x) (defmethod f ((x integer)) (setq x 100) (list (call-next-method) (call-next-method x))) (f 1)
;; --- method in a closure
(let ((count 0)) (defmethod tick ((x integer)) (incf count x))) (tick 2) (tick 3)
;; --- specialising on a structure and a class at once
(defstruct s) (defclass c () ()) (defgeneric g (x y)) (defmethod g ((x s) (y c)) 'sc) (defmethod g (x y) 'other) (list (g (make-s) (make-instance 'c)) (g 1 2))
;; --- eql methods on characters and keywords
(defgeneric f (x)) (defmethod f ((x (eql #\a))) 'the-char) (defmethod f ((x (eql :k))) 'the-key) (defmethod f (x) 'none) (list (f #\a) (f :k) (f #\b) (f "a"))
;; --- generic function recursing
(defgeneric depth (x)) (defmethod depth ((x null)) 0) (defmethod depth ((x cons)) (1+ (max (depth (car x)) (depth (cdr x))))) (defmethod depth (x) 0) (depth '(1 (2 (3)) 4))
;; --- tail calls through a generic function
(defgeneric down (n)) (defmethod down ((n integer)) (if (zerop n) 'done (down (1- n)))) (down 20000)
;; --- optional argument supplied-p in a method
(defgeneric f (x &optional y)) (defmethod f (x &optional (y 1 y-p)) (list x y y-p)) (list (f 1) (f 1 2))
;; --- make-instance allows other keys when told
(defclass a () ((x :initarg :x :reader x))) (x (make-instance 'a :x 1 :zz 2 :allow-other-keys t))
;; --- class options and slot types
(defclass a () ((x :initarg :x :type integer :documentation "A number." :reader x)) (:documentation "An a.")) (list (x (make-instance 'a :x 1)) (documentation 'a 'type))
;; --- method combination most-specific-last
(defgeneric all (x) (:method-combination list :most-specific-last)) (defmethod all list ((x integer)) 'int) (defmethod all list ((x number)) 'num) (all 5)
;; --- missing slot unhandled
(defclass a () ()) (slot-value (make-instance 'a) 'q)
;; --- slot-value of a number
(handler-case (slot-value 5 'x) (error () 'refused))
;; --- objects of a redefined class get the new slots
(defclass redefined () ((a :initform 1 :initarg :a)))
(defparameter *i* (make-instance 'redefined :a 7))
(defclass redefined () ((a :initform 2) (b :initform 5) (c)))
(list (slot-value *i* 'b) (slot-value *i* 'a) (slot-boundp *i* 'c) (typep *i* 'redefined))
;; --- update-instance-for-redefined-class sees what was added and discarded
(defclass moved () ((x :initform 3) (y :initform 4)))
(defparameter *m* (make-instance 'moved))
(defmethod update-instance-for-redefined-class :after ((o moved) added discarded plist &key) (setf (slot-value o 'sum) (list added discarded (getf plist 'y))))
(defclass moved () ((x) (sum :initform nil)))
(list (slot-value *m* 'sum) (slot-value *m* 'x))
;; --- update-instance-for-different-class gets the old and the new object
(defclass first-class () ((a :initform 1)))
(defclass second-class () ((a :initform 2) (b :initform 3 :initarg :b)))
(defmethod update-instance-for-different-class :before ((old first-class) (new second-class) &key) (print (list (slot-value old 'a) (slot-boundp new 'b))))
(let ((o (make-instance 'first-class))) (change-class o 'second-class :b 9) (list (slot-value o 'a) (slot-value o 'b)))
;; --- a short method combination of the program
(define-method-combination times :operator *) (defgeneric area (x) (:method-combination times)) (defmethod area times ((x integer)) x) (defmethod area times ((x number)) 10) (list (area 3) (area 2.5))
;; --- a long method combination
(define-method-combination tracing () ((around (:around)) (before (:before)) (primary () :required t)) (let ((form `(progn ,@(mapcar (lambda (m) `(call-method ,m)) before) (call-method ,(first primary) ,(rest primary))))) (if around `(call-method ,(first around) (,@(rest around) (make-method ,form))) form))) (defvar *trail* nil) (defgeneric go-there (x) (:method-combination tracing)) (defmethod go-there ((x t)) (push :t *trail*)) (defmethod go-there ((x integer)) (push :integer *trail*) (call-next-method)) (defmethod go-there :before ((x integer)) (push :before *trail*)) (defmethod go-there :around ((x integer)) (push :around *trail*) (call-next-method)) (go-there 1) (reverse *trail*)
;; --- a method on make-instance
(defclass counted () ((n :initarg :n :reader n))) (defmethod make-instance ((c (eql (find-class 'counted))) &rest initargs) (declare (ignorable initargs)) (let ((made (call-next-method))) (list :made (n made)))) (make-instance (find-class 'counted) :n 3)
;; --- a method on update-instance-for-different-class
(defclass old-one () ((a :initarg :a))) (defclass new-one () ((b :accessor b))) (defmethod update-instance-for-different-class :after ((from old-one) (to new-one) &key) (setf (b to) (list :was (slot-value from 'a)))) (b (change-class (make-instance 'old-one :a 1) 'new-one))
;; --- a method on describe-object
(defclass shy () ()) (defmethod describe-object ((s shy) stream) (format stream "nothing to see")) (with-output-to-string (s) (describe (make-instance 'shy) s))
;; --- setf of find-class
(defclass kept () ()) (setf (find-class 'alias) (find-class 'kept)) (list (typep (make-instance 'alias) 'kept) (progn (setf (find-class 'alias) nil) (find-class 'alias nil)))
;; --- ensure-generic-function and add-method
(defgeneric first-one (x)) (defmethod first-one ((x integer)) (list :integer x)) (let ((method (find-method #'first-one nil (list (find-class 'integer)))) (other (ensure-generic-function 'second-one :lambda-list '(x)))) (remove-method #'first-one method) (add-method other method) (funcall 'second-one 5))
;; --- argument precedence order
(defgeneric pick (a b) (:argument-precedence-order b a)) (defmethod pick ((a integer) (b t)) :a) (defmethod pick ((a t) (b integer)) :b) (pick 1 2)
;; --- load forms that save slots
(defclass point () ((x :initarg :x :reader x) (y :initarg :y))) (multiple-value-bind (make init) (make-load-form-saving-slots (make-instance 'point :x 1 :y 2)) (list (first make) (first init)))
;; --- a slot given twice
(defclass twice () (a a))

;; --- a list combination with one method answers a list
(defgeneric parts (x) (:method-combination list))
(defmethod parts list ((x integer)) x)
(defgeneric total (x) (:method-combination +))
(defmethod total + ((x integer)) x)
(defmethod total + ((x number)) 1)
(list (parts 5) (total 5))
;; --- a specializer that is a ratio
(progn (defgeneric half-p (x)) (defmethod half-p ((x (eql 1/2))) :half) (defmethod half-p ((x t)) :other) (list (half-p (/ 2 4)) (half-p 1/3) (half-p 0.5d0)))
;; --- a method on make-instance also serves calls by name
(defclass r () ()) (defmethod make-instance ((c (eql (find-class 'r))) &rest args) (list 'mine args)) (list (make-instance (find-class 'r)) (make-instance 'r :a 1) (apply #'make-instance 'r nil))
;; --- a method around make-instance
(defclass r () ((a :initarg :a :reader a))) (defun make () (make-instance 'r :a 1)) (make) (defmethod make-instance :around ((c (eql (find-class 'r))) &rest args) (declare (ignore args)) (list (a (call-next-method)))) (make)
;; --- make-instance allocates by the method of the class
(defclass r () ((a :initarg :a :reader a))) (defvar *seen* nil) (defmethod allocate-instance ((c (eql (find-class 'r))) &key extra &allow-other-keys) (setq *seen* extra) (call-next-method)) (list (a (make-instance 'r :a 3 :extra 4)) *seen* (handler-case (reinitialize-instance (make-instance 'r) :extra 1) (error () 'refused)))
