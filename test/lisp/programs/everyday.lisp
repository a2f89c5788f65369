;; --- word count
(defun split-words (text)
  (loop with start = nil
        for i from 0 to (length text)
        for char = (if (< i (length text)) (char text i) #\Space)
        if (alpha-char-p char) do (unless start (setf start i))
        else when start collect (string-downcase (subseq text start i)) and do (setf start nil)))
(let ((counts (make-hash-table :test #'equal)))
  (dolist (word (split-words "The quick brown fox. The lazy dog; the END!"))
    (incf (gethash word counts 0)))
  (let ((rows '()))
    (maphash (lambda (k v) (push (cons k v) rows)) counts)
    (loop for (word . n) in (sort rows (lambda (a b) (or (> (cdr a) (cdr b)) (and (= (cdr a) (cdr b)) (string< (car a) (car b))))))
          do (format t "~10a|~3d~%" word n))))

;; --- csv table
(defun split-on (separator line)
  (loop for start = 0 then (1+ end)
        for end = (position separator line :start start)
        collect (subseq line start end)
        while end))
(let* ((lines '("name,qty,price" "bolt,12,0.25" "nut,,0.1" "gear,3,12.5"))
       (header (split-on #\, (first lines)))
       (rows (mapcar (lambda (line) (pairlis header (split-on #\, line))) (rest lines))))
  (dolist (row rows)
    (format t "~{~a=~s~^; ~}~%" (loop for h in header collect h collect (cdr (assoc h row :test #'string=)))))
  (reduce #'+ rows :key (lambda (row) (or (parse-integer (cdr (assoc "qty" row :test #'equal)) :junk-allowed t) 0))))

;; --- join with format
(list (format nil "~{~a~^, ~}" '(1 2 3)) (format nil "~{~a~^, ~}" '()) (format nil "~{~{~a:~a~}~^ ~}" '((a 1) (b 2)))
      (format nil "~:{<~a ~a>~}" '((1 2) (3 4))) (format nil "~@{~a-~}" 1 2 3) (format nil "~{~#[none~;~a~;~a and ~a~:;~@{~a~#[~;, and ~:;, ~]~}~]~}" '(a b c)))

;; --- aligned columns
(loop for (name price count) in '(("apple" 1.5 3) ("kiwi" 0.25 12) ("watermelon" 12.125 1))
      do (format t "~12@a|~8,2f|~4d|~4,'0d|~%" name price count count))

;; --- numbers in format
(format nil "~d ~:d ~@d ~b ~o ~x ~r ~:r ~@r ~e ~f ~5,1f ~$ ~10r ~2,8,'0r ~a" 1234567 1234567 5 10 8 255 42 3 14 12345.678 3.14159 2.75 3.5 99 5 1/3)

;; --- conditionals in format
(list (format nil "~[zero~;one~;two~:;many~]" 1) (format nil "~[zero~;one~;two~:;many~]" 9) (format nil "~:[no~;yes~]" nil) (format nil "~@[x=~a~]" 5) (format nil "~@[x=~a~]" nil)
      (format nil "~d item~:p" 1) (format nil "~d item~:p" 2) (format nil "~d cit~:@p" 2) (format nil "~(HELLO~) ~:(hello world~) ~@(hELLO~) ~:@(up~)"))

;; --- tabs and padding
(format t "~a~20t~a~30t|~%~5@a|~5a|~v@a|~,,,'*a~%~3%~&~~~%" "x" "y" "a" "b" 7 "c" "d")

;; --- justification
(list (format nil "~30<left~;mid~;right~>" ) (format nil "~20:@<center~>") (format nil "~10<r~>") (format nil "~10@<l~>"))

;; --- string building
(with-output-to-string (out)
  (dotimes (i 3) (format out "~a " i))
  (write-string "abc" out :start 1) (write-char #\! out) (terpri out) (princ 'sym out) (prin1 "q\"s" out) (print 'p out))

;; --- string functions
(list (string-trim " -" "  -x y- ") (string-left-trim "0" "00120") (string-upcase "abc" :start 1) (string-capitalize "hello wORLD foo-bar don't") (reverse "abc") (search "lo" "hello") (search "l" "hello" :from-end t)
      (position #\l "hello" :from-end t) (substitute #\- #\Space "a b c") (remove #\a "banana") (string< "abc" "abd") (string= "abc" "ABC") (string-equal "abc" "ABC") (char "abc" 1) (subseq "hello" 1 3) (concatenate 'string "a" "b" '(#\c)))

;; --- palindrome and anagrams
(defun normal (s) (remove-if-not #'alpha-char-p (string-downcase s)))
(defun palindrome-p (s) (let ((n (normal s))) (string= n (reverse n))))
(let ((table (make-hash-table :test 'equal)))
  (dolist (w '("listen" "silent" "enlist" "google" "elbow" "below"))
    (push w (gethash (sort (copy-seq w) #'char<) table)))
  (list (palindrome-p "A man, a plan, a canal: Panama") (palindrome-p "abc")
        (sort (loop for v being the hash-values of table when (rest v) collect (sort v #'string<)) #'string< :key #'first)))

;; --- caesar cipher
(defun shift (c n) (cond ((upper-case-p c) (code-char (+ 65 (mod (+ n (- (char-code c) 65)) 26)))) ((lower-case-p c) (code-char (+ 97 (mod (+ n (- (char-code c) 97)) 26)))) (t c)))
(defun caesar (s n) (map 'string (lambda (c) (shift c n)) s))
(values (caesar "Hello, World!" 3) (caesar (caesar "Hello, World!" 3) -3))

;; --- hash table tour
(let ((h (make-hash-table :test 'equal :size 10)))
  (setf (gethash "a" h) 1 (gethash '(1 2) h) 2 (gethash 3.5 h) 3)
  (list (hash-table-count h) (multiple-value-list (gethash '(1 2) h)) (multiple-value-list (gethash "zz" h 'none)) (remhash "a" h) (remhash "a" h) (hash-table-count h) (hash-table-test h) (hash-table-p h)
        (with-hash-table-iterator (next h) (loop repeat 2 collect (nth-value 2 (next)))) (progn (clrhash h) (hash-table-count h))))

;; --- grouping
(defun group-by (key list &key (test #'eql))
  (let ((table (make-hash-table :test test)) (order '()))
    (dolist (x list) (let ((k (funcall key x))) (unless (nth-value 1 (gethash k table)) (push k order)) (push x (gethash k table))))
    (mapcar (lambda (k) (cons k (reverse (gethash k table)))) (nreverse order))))
(list (group-by #'evenp '(1 2 3 4 5)) (group-by #'length '("a" "bb" "c" "dd") :test #'eql) (group-by (lambda (s) (char s 0)) '("apple" "bob" "avocado")))

;; --- memo fibonacci
(let ((memo (make-hash-table)))
  (labels ((fib (n) (or (gethash n memo) (setf (gethash n memo) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))))))
    (list (fib 90) (fib 200) (hash-table-count memo))))

;; --- loop many clauses
(loop for x in '(3 1 4 1 5 9 2 6)
      for i from 0
      for prev = nil then x
      with total = 0
      when (oddp x) collect x into odds and sum x into odd-sum
      else collect (cons i x) into evens
      do (incf total x)
      maximize x into biggest
      minimize x into smallest
      count (> x 3) into big
      finally (return (list odds odd-sum evens total biggest smallest big prev i)))

;; --- loop stepping
(list (loop for i from 10 downto 1 by 3 collect i) (loop for i from 0 below 10 by 2 collect i) (loop for x on '(1 2 3) by #'cddr collect x) (loop for c across "abc" collect (char-upcase c)) (loop for x = 1 then (* 2 x) until (> x 50) collect x)
      (loop repeat 3 for i upfrom 5 collect i) (loop for (a . b) in '((1 . 2) (3 . 4)) collect (+ a b)) (loop for (a (b c) &rest d) in '((1 (2 3) 4 5)) collect (list a b c d)) (loop for x in '(1 2 3) append (list x x)) (loop for x in '(1 2 3) nconc (list x (- x))))

;; --- loop tests
(list (loop for x in '(1 3 5) always (oddp x)) (loop for x in '(1 2 5) never (> x 4)) (loop for x in '(1 2 3) thereis (and (evenp x) (* x 10))) (loop named outer for i below 5 do (loop for j below 5 when (= (* i j) 6) do (return-from outer (list i j))))
      (loop for x in '(1 2 3 4) while (< x 3) collect x) (loop for x in '(a b c) for y in '(1 2) collect (list x y)) (loop for i below 3 initially (princ "start ") finally (princ "end") collect i))

;; --- loop over hash
(let ((h (make-hash-table)))
  (loop for k in '(a b c) for v from 1 do (setf (gethash k h) v))
  (list (sort (loop for k being the hash-keys of h collect k) #'string<) (loop for v being the hash-values of h sum v) (sort (loop for k being the hash-keys of h using (hash-value v) when (> v 1) collect (cons k v)) #'< :key #'cdr)))

;; --- destructuring
(list (destructuring-bind (a (b &optional (c 3)) &rest r &key k (l 9)) '(1 (2) :k 5) (list a b c r k l)) (destructuring-bind (&whole w x . y) '(1 2 . 3) (list w x y))
      (multiple-value-bind (q r) (floor 17 5) (list q r)) (multiple-value-call #'list (floor 7 2) (values) (truncate -7 2)) (nth-value 1 (round 5 2)) (multiple-value-list (values-list '(1 2 3))))

;; --- destructuring error
(destructuring-bind (a b) '(1 2 3) (list a b))

;; --- lambda lists
(defun f (a &optional (b (* a 2) b-p) &rest rest &key (key 'none key-p) &allow-other-keys) (list a b b-p rest key key-p))
(list (f 1) (f 1 2) (f 1 2 :key 3) (f 1 2 :other 4 :key 5) (funcall (lambda (&aux (x 1) (y (+ x 1))) (list x y))))

;; --- wrong keyword
(defun g (&key a b) (list a b))
(g :c 1)

;; --- handler-case clauses
(defun try (thunk)
  (handler-case (funcall thunk)
    (division-by-zero () :div)
    (type-error (e) (list :type (type-error-datum e) (type-error-expected-type e)))
    (unbound-variable (e) (list :unbound (cell-error-name e)))
    (undefined-function (e) (list :undefined (cell-error-name e)))
    (simple-error (e) (list :simple (format nil "~a" e)))
    (:no-error (&rest values) (list :fine values))))
(list (try (lambda () (/ 1 0))) (try (lambda () (car 5))) (try (lambda () (symbol-value 'nope))) (try (lambda () (funcall 'nofun 1))) (try (lambda () (error "bad ~a" 1))) (try (lambda () (values 1 2))))

;; --- conditions of ones own
(define-condition too-big (error) ((n :initarg :n :reader too-big-n) (limit :initarg :limit :initform 10 :reader limit)) (:report (lambda (c s) (format s "~a exceeds ~a" (too-big-n c) (limit c)))))
(define-condition way-too-big (too-big) ())
(defun check (n) (cond ((> n 100) (error 'way-too-big :n n)) ((> n 10) (error 'too-big :n n)) (t n)))
(loop for n in '(5 50 500) collect (handler-case (check n) (way-too-big (c) (format nil "WAY: ~a" c)) (too-big (c) (princ-to-string c))))

;; --- restarts
(defun parse-entry (s)
  (restart-case (parse-integer s)
    (use-value (v) v)
    (skip () :skipped)
    (retry-with (text) :report "Retry." (parse-integer text))))
(list (handler-bind ((error (lambda (c) (declare (ignore c)) (invoke-restart 'use-value 0)))) (mapcar #'parse-entry '("1" "x" "3")))
      (handler-bind ((error (lambda (c) (declare (ignore c)) (invoke-restart 'skip)))) (mapcar #'parse-entry '("1" "x")))
      (handler-bind ((error (lambda (c) (declare (ignore c)) (invoke-restart 'retry-with "42")))) (parse-entry "?")))

;; --- signal warn and muffle
(let ((log '()))
  (handler-bind ((warning (lambda (w) (push (princ-to-string w) log) (muffle-warning w))))
    (warn "first ~d" 1) (warn 'simple-warning :format-control "second"))
  (push (signal "nothing") log)
  (push (handler-case (signal 'simple-condition :format-control "x") (condition (c) (type-of c))) log)
  (nreverse log))

;; --- unwind-protect order
(let ((trace '()))
  (flet ((note (x) (push x trace)))
    (catch 'done (unwind-protect (progn (note 1) (unwind-protect (throw 'done (note 2)) (note 3))) (note 4)))
    (block b (unwind-protect (return-from b (note 5)) (note 6)))
    (ignore-errors (unwind-protect (error "x") (note 7)))
    (nreverse trace)))

;; --- ignore-errors and cerror
(list (multiple-value-bind (v e) (ignore-errors (error "oops ~a" 1)) (list v (princ-to-string e))) (ignore-errors 5) (handler-bind ((error #'continue)) (list (cerror "Go on." "stop ~a" 1) :went-on)) (handler-case (assert (= 1 2) () "not ~a" 'equal) (error (e) (princ-to-string e))) (handler-case (check-type 5 string) (type-error () :typed)))

;; --- handler-bind nesting
(let ((seen '()))
  (handler-case
      (handler-bind ((error (lambda (c) (push (list :inner (type-of c)) seen))))
        (handler-bind ((arithmetic-error (lambda (c) (declare (ignore c)) (push :arith seen) nil)))
          (/ 5 0)))
    (division-by-zero () (push :caught seen)))
  (nreverse seen))

;; --- classes
(defclass shape () ((name :initarg :name :accessor name :initform "shape") (count :allocation :class :initform 0 :accessor shape-count)))
(defclass circle (shape) ((r :initarg :r :reader radius)) (:default-initargs :name "circle"))
(defclass square (shape) ((side :initarg :side :accessor side)))
(defgeneric area (s) (:documentation "The area."))
(defmethod area ((s circle)) (* 3 (radius s) (radius s)))
(defmethod area ((s square)) (expt (side s) 2))
(defmethod initialize-instance :after ((s shape) &key) (incf (shape-count s)))
(defmethod describe-it ((s shape)) (format nil "~a of ~a" (name s) (area s)))
(let ((all (list (make-instance 'circle :r 2) (make-instance 'square :side 3 :name "sq"))))
  (list (mapcar #'describe-it all) (shape-count (first all)) (typep (first all) 'shape) (class-name (class-of (second all))) (slot-boundp (second all) 'side) (setf (side (second all)) 5) (area (second all)) (with-slots (side name) (second all) (list side name)) (documentation 'area 'function)))

;; --- method combination
(defclass a () ()) (defclass b (a) ())
(defvar *log* '())
(defmethod act ((x a)) (push :a *log*) :primary-a)
(defmethod act ((x b)) (push :b *log*) (list :b (call-next-method)))
(defmethod act :before ((x a)) (push :before-a *log*))
(defmethod act :before ((x b)) (push :before-b *log*))
(defmethod act :after ((x a)) (push :after-a *log*))
(defmethod act :after ((x b)) (push :after-b *log*))
(defmethod act :around ((x b)) (push :around *log*) (list :around (next-method-p) (call-next-method)))
(list (act (make-instance 'b)) (reverse *log*))

;; --- multimethods and eql
(defgeneric collide (a b))
(defmethod collide ((a integer) (b string)) :int-string)
(defmethod collide ((a number) (b t)) :number-any)
(defmethod collide ((a (eql 0)) (b string)) (list :zero (call-next-method)))
(defmethod collide ((a symbol) (b list)) :symbol-list)
(defmethod collide ((a null) (b null)) :nulls)
(list (collide 1 "x") (collide 1.5 "x") (collide 0 "x") (collide 'a '(1)) (collide nil nil) (collide nil '(1)))

;; --- no applicable method
(defgeneric only (x)) (defmethod only ((x string)) x)
(handler-case (only 5) (error () :none))

;; --- print-object
(defclass point () ((x :initarg :x) (y :initarg :y)))
(defmethod print-object ((p point) stream) (format stream "#<POINT ~d,~d>" (slot-value p 'x) (slot-value p 'y)))
(let ((p (make-instance 'point :x 1 :y 2))) (format t "~a ~s ~a~%" p p (list p)) p)

;; --- structs
(defstruct (person (:constructor make-person) (:constructor new-person (name &optional (age 18)))) name (age 0 :type integer) tags)
(defstruct (employee (:include person) (:conc-name emp-)) salary)
(let ((p (new-person "Ann")) (e (make-employee :name "Bob" :age 40 :salary 10)))
  (incf (person-age p)) (push 'x (person-tags p))
  (list p e (person-name e) (emp-salary e) (person-p e) (employee-p p) (equalp (copy-person p) p) (eql p (copy-person p)) (equal (copy-person p) p)))

;; --- sorting
(list (sort (list 3 1 2) #'<) (stable-sort (list '(b 1) '(a 1) '(c 0)) #'< :key #'second) (sort (copy-seq #(3 1 2)) #'>) (sort (list "pear" "Apple" "fig") #'string-lessp) (sort (copy-seq "hello") #'char<) (merge 'list (list 1 3 5) (list 2 4 6) #'<) (sort (list '(2 . a) '(1 . b)) #'< :key #'car))

;; --- multi key sort
(let ((rows (list '("x" 3 1.5) '("y" 1 2.5) '("x" 1 0.5) '("y" 1 0.5))))
  (stable-sort (copy-list rows) (lambda (a b) (cond ((string< (first a) (first b)) t) ((string> (first a) (first b)) nil) (t (< (second a) (second b)))))))

;; --- sequence keywords
(list (find 3 '((1 a) (3 b) (3 c)) :key #'car) (find 3 '((1 a) (3 b) (3 c)) :key #'car :from-end t) (position-if #'evenp #(1 3 4 6) :start 3) (count 'a '(a b a c a) :start 1) (remove 'a '(a b a c a) :count 1) (remove 'a '(a b a c a) :count 1 :from-end t) (remove-duplicates '(1 2 1 3 2)) (remove-duplicates '(1 2 1 3 2) :from-end t)
      (remove-duplicates '("a" "A" "b") :test #'string-equal) (substitute 9 1 '(1 2 1) :count 1) (member "b" '("a" "b" "c") :test #'string=) (assoc 2.0 '((1 . a) (2 . b)) :test #'=) (rassoc 'b '((1 . a) (2 . b))) (find-if-not #'numberp '(1 a 2)) (mismatch "abcd" "abxd") (count-if #'upper-case-p "aBcD") (fill (list 1 2 3) 0 :start 1) (replace (list 1 2 3 4) '(a b) :start1 1))

;; --- reduce in all ways
(list (reduce #'+ '()) (reduce #'+ '(5)) (reduce #'- '(1 2 3 4)) (reduce #'- '(1 2 3 4) :from-end t) (reduce #'cons '(1 2 3) :from-end t :initial-value nil) (reduce #'cons '(1 2 3) :initial-value nil) (reduce #'max #(3 9 2) :key #'-) (reduce (lambda (a b) (format nil "~a~a" a b)) '(1 2 3)) (reduce #'list '(1 2 3 4) :start 1 :end 3))

;; --- mapping
(list (mapcar #'+ '(1 2 3) '(10 20)) (mapcan (lambda (x) (when (oddp x) (list x x))) '(1 2 3)) (maplist #'length '(a b c)) (mapcon #'copy-list '(1 2)) (map 'vector #'1+ '(1 2)) (map 'list #'cons "ab" '(1 2)) (map nil #'print '()) (every #'< '(1 2) '(2 3)) (some #'evenp #(1 3)) (notany #'evenp '(1 3)) (notevery #'oddp '(1 3)) (mapc #'identity '(1)) (map-into (list 0 0 0) #'+ '(1 2 3) '(1 1 1)))

;; --- sets
(list (sort (union '(1 2 3) '(2 3 4)) #'<) (intersection '(1 2 3) '(3 1 5)) (set-difference '(1 2 3) '(2)) (sort (set-exclusive-or '(1 2) '(2 3)) #'<) (subsetp '(1) '(1 2)) (adjoin 1 '(1 2)) (adjoin 3 '(1 2)) (let ((l '(1))) (pushnew 1 l) (pushnew 2 l) l))

;; --- list surgery
(let ((l (list 1 2 3 4 5)))
  (list (butlast l 2) (last l 2) (nthcdr 3 l) (subseq l 1 3) (ldiff l (cddr l)) (append l '(6) nil '(7 . 8)) (copy-tree '(1 (2))) (subst 'x 2 '(1 2 (2))) (list* 1 2 '(3)) (acons 'k 'v nil) (getf '(:a 1 :b 2) :b) (let ((p (list :a 1))) (setf (getf p :b) 2) (remf p :a) p) (nreverse (list 1 2 3)) (tailp (cddr l) l) (elt l 2) (rest l) (make-list 2 :initial-element 'z)))

;; --- places
(let ((v (vector 1 2 3)) (l (list 1 2 3)) (a 1) (b 2) (h (make-hash-table)))
  (incf (aref v 0) 10) (decf (third l)) (rotatef a b) (push 1 (gethash 'k h)) (push 2 (gethash 'k h)) (setf (values a b) (floor 7 2))
  (list v l a b (gethash 'k h) (pop (gethash 'k h)) (gethash 'k h) (shiftf (car l) 'new) l (let ((s (copy-seq "abc"))) (setf (char s 1) #\X) (setf (subseq s 0 1) "Z") s) (let ((x 5)) (psetf x (1+ x) a x) (list x a))))

;; --- bignums and ratios
(list (expt 2 100) (/ 6 4) (+ 1/3 1/6) (* 1/2 4) (numerator 6/8) (gcd 48 36) (lcm 4 6) (isqrt 17) (expt 2/3 3) (rational 0.5) (float 1/4 1.0) (floor -7 2) (mod -7 3) (rem -7 3) (truncate 7.9) (round 2.5) (round 3.5) (ceiling 7 2))

;; --- factorial and ratios
(defun fact (n) (if (< n 2) 1 (* n (fact (1- n)))))
(list (fact 30) (/ (fact 20) (fact 18)) (loop for i from 1 to 10 sum (/ 1 i)) (expt 3 50) (mod (expt 7 100) 13) (integer-length (expt 2 70)) (ash 1 65) (ash -5 -1) (logand 12 10) (logior 12 10) (logxor 12 10) (lognot 5) (logcount 255) (logbitp 2 5) (- (expt 2 62)) (* 99999999999 99999999999) (rationalize 1/3) (signum -3/4) (abs -1/2) (max 1 5/2 2) (evenp (expt 2 80)))

;; --- floats
(list (sqrt 16.0) (sqrt 2.0) (expt 2.0 0.5) (expt 4.0 1/2) (/ 10 4.0) (float 3 1.0) 1e10 1.5e-7 123456789.0 0.1 (+ 0.1 0.2) 1e21 1d0 (* 1.0 100) (floor 3.7) (multiple-value-list (truncate -3.7)) (exp 0.0) (log 8.0 2.0) (atan 1.0 1.0) pi (min 1 2.0) (= 1 1.0) (eql 1 1.0) (zerop 0.0) (parse-integer "  42 ") (parse-integer "ff" :radix 16) (read-from-string "1.5"))

;; --- primes
(defun primes (n) (let ((sieve (make-array (1+ n) :element-type 'bit :initial-element 1)))
  (loop for i from 2 to (isqrt n) when (= 1 (sbit sieve i)) do (loop for j from (* i i) to n by i do (setf (sbit sieve j) 0)))
  (loop for i from 2 to n when (= 1 (sbit sieve i)) collect i)))
(primes 50)

;; --- vectors
(let ((v (make-array 3 :fill-pointer 0 :adjustable t)) (m (make-array '(2 3) :initial-contents '((1 2 3) (4 5 6)))))
  (dotimes (i 5) (vector-push-extend (* i i) v))
  (list v (length v) (vector-pop v) (fill-pointer v) (aref m 1 2) (array-dimensions m) (array-rank m) (array-total-size m) m (row-major-aref m 4) (coerce v 'list) (coerce '(1 2) 'vector) (subseq v 1 3) (make-array 2 :initial-element 'x) (array-in-bounds-p m 2 0) (let ((a (adjust-array v 10))) (array-dimension a 0)) (svref (vector 1 2) 1) #*1010 (bit #*10 0)))

;; --- transpose and multiply
(defun transpose (rows) (apply #'mapcar #'list rows))
(defun mul (a b) (let ((bt (transpose b))) (mapcar (lambda (row) (mapcar (lambda (col) (reduce #'+ (mapcar #'* row col))) bt)) a)))
(list (transpose '((1 2 3) (4 5 6))) (mul '((1 2) (3 4)) '((5 6) (7 8))))

;; --- string streams in
(with-input-from-string (in (format nil "line one~%2 (a b) \"s\"~%last"))
  (list (read-line in) (read in) (read in) (read in) (peek-char t in) (read-char in) (read-line in) (read-line in nil :eof) (read in nil 'done)))

;; --- end of file
(with-input-from-string (in "x") (read in) (read in))

;; --- read numbers from lines
(with-input-from-string (in (format nil "10 20~%30~%~%x 5"))
  (loop for line = (read-line in nil) while line
        collect (loop with pos = 0 for (n next) = (multiple-value-list (ignore-errors (parse-integer line :start pos :junk-allowed t))) while (and n (< pos (length line))) collect n do (setf pos next))))

;; --- closures
(defun make-counter (&optional (n 0)) (list (lambda () (incf n)) (lambda () (setf n 0)) (lambda () n)))
(destructuring-bind (up reset get) (make-counter 5)
  (list (funcall up) (funcall up) (funcall get) (funcall reset) (funcall up) (let ((fs (loop for i below 3 collect (let ((i i)) (lambda () i))))) (mapcar #'funcall fs))
   (mapcar (lambda (f) (funcall f 3)) (list #'1+ (lambda (x) (* x x)) (complement #'evenp) (constantly 7)))))

;; --- compose and curry
(defun compose (&rest fs) (if fs (lambda (x) (funcall (first fs) (funcall (apply #'compose (rest fs)) x))) #'identity))
(defun curry (f &rest a) (lambda (&rest b) (apply f (append a b))))
(list (funcall (compose #'1+ (curry #'* 2)) 5) (mapcar (curry #'+ 10) '(1 2)) (apply #'max 1 2 '(9 3)) (funcall (curry #'list 1 2) 3))

;; --- macros
(defmacro my-unless (test &body body) `(if ,test nil (progn ,@body)))
(defmacro with-gensyms (names &body body) `(let ,(loop for n in names collect `(,n (gensym))) ,@body))
(defmacro swap (a b) (with-gensyms (tmp) `(let ((,tmp ,a)) (setf ,a ,b ,b ,tmp))))
(defmacro while (test &body body) `(loop (unless ,test (return)) ,@body))
(defmacro for ((var from to) &body body) `(do ((,var ,from (1+ ,var))) ((> ,var ,to)) ,@body))
(let ((a 1) (b 2) (n 0) (sum 0)) (swap a b) (while (< n 3) (incf n)) (for (i 1 4) (incf sum i)) (list a b n sum (my-unless nil 1 2) (macroexpand-1 '(my-unless x y)) (macroexpand-1 '(while x y))))

;; --- dynamic variables
(defvar *depth* 0) (defparameter *name* "top")
(defun show-depth () (list *depth* *name*))
(list (show-depth) (let ((*depth* 1) (*name* "in")) (show-depth)) (show-depth) (progv '(*depth*) '(9) (show-depth)) (boundp '*nope*) (setf *depth* 5) (show-depth))

;; --- case typecase cond
(defun kind (x) (typecase x (null :null) (integer (if (minusp x) :neg :int)) (float :float) (string :string) (symbol :symbol) (cons :cons) (vector :vector) (function :function) (t :other)))
(list (mapcar #'kind (list nil 1 -1 1.5 "s" 'a '(1) #(1) #'car #\a)) (case 3 ((1 2) :low) ((3 4) :mid) (otherwise :high)) (case 'x (x 1) (t 2)) (case nil (nil 1) (t 2)) (case nil ((nil) 1) (t 2)) (cond ((assoc 'b '((a 1) (b 2))) => 1) (t 2)))

;; --- etypecase fails
(list (handler-case (etypecase 5 (string 1)) (type-error () :type)) (handler-case (ecase 5 (1 1)) (type-error () :case)))

;; --- do loops
(list (do ((i 0 (1+ i)) (acc '() (cons i acc))) ((= i 4) acc)) (do* ((i 0 (1+ i)) (j i (* 2 i))) ((> i 2) (list i j))) (dotimes (i 3 i)) (dolist (x '(1 2) x)) (let ((r '())) (dolist (x '(1 2 3) (nreverse r)) (when (= x 2) (push :two r)) (push x r))) (prog ((i 0)) top (incf i) (when (< i 5) (go top)) (return i)) (block nil (dolist (x '(1 2 3)) (when (= x 2) (return :found)))))

;; --- assoc and plist data
(let ((people '((:name "Ann" :age 30 :langs (lisp c)) (:name "Bob" :age 25 :langs (c)) (:name "Cy" :age 35 :langs ()))))
  (list (loop for p in people when (> (getf p :age) 28) collect (getf p :name)) (reduce #'+ people :key (lambda (p) (getf p :age))) (/ (reduce #'+ people :key (lambda (p) (getf p :age))) (length people)) (find "Bob" people :key (lambda (p) (getf p :name)) :test #'string=) (sort (remove-duplicates (mapcan (lambda (p) (copy-list (getf p :langs))) people)) #'string<) (getf (first people) :missing :default)))

;; --- symbols
(list (symbol-name 'foo) (intern "BAR") (string 'abc) (string #\a) (eq 'a 'A) (keywordp :k) (symbolp nil) '|Mixed Case| :key (string-downcase 'sym) (format nil "~a ~s ~(~a~)" :k :k 'up))

;; --- printing data
(progn (prin1 '(a "b" #\c 1.5 (nested . pair) #(1 2) nil t :k 'q #'f)) (terpri) (princ '(a "b" #\c)) (print "x") (write 255 :base 16 :radix t) (terpri) (write '(1 (2 (3 (4)))) :level 2) (write '(1 2 3 4) :length 2) (prin1 (list 1/2 -0.5 1e100)))

;; --- characters
(list (char-code #\A) (code-char 97) (digit-char-p #\7) (digit-char-p #\f 16) (digit-char 5) (alphanumericp #\-) (char-upcase #\z) (both-case-p #\1) (char< #\a #\b #\c) (char-equal #\a #\A) (char-name #\Newline) (upper-case-p #\A) (map 'list #'char-code "hi") (coerce "ab" 'list) (character "x"))

;; --- towers of hanoi
(let ((moves 0)) (labels ((hanoi (n from to via) (unless (zerop n) (hanoi (1- n) from via to) (incf moves) (when (> n 2) (format t "~a:~a->~a " n from to)) (hanoi (1- n) via to from)))) (hanoi 4 'a 'c 'b)) moves)

;; --- quicksort and permutations
(defun qs (l) (if l (let ((p (first l))) (append (qs (remove-if-not (lambda (x) (< x p)) (rest l))) (list p) (qs (remove-if (lambda (x) (< x p)) (rest l)))))))
(defun perms (l) (if l (mapcan (lambda (x) (mapcar (lambda (p) (cons x p)) (perms (remove x l :count 1)))) l) (list nil)))
(list (qs '(3 1 4 1 5 9 2 6)) (perms '(1 2 3)))

;; --- binary tree
(defstruct node value left right)
(defun insert (tree v) (cond ((null tree) (make-node :value v)) ((< v (node-value tree)) (setf (node-left tree) (insert (node-left tree) v)) tree) (t (setf (node-right tree) (insert (node-right tree) v)) tree)))
(defun walk (tree fn) (when tree (walk (node-left tree) fn) (funcall fn (node-value tree)) (walk (node-right tree) fn)))
(let ((tree nil) (out '())) (dolist (v '(5 2 8 1 9)) (setf tree (insert tree v))) (walk tree (lambda (v) (push v out))) (list (nreverse out) (node-left tree)))

;; --- graph search
(let ((graph '((a b c) (b d) (c d e) (d f) (e f) (f))))
  (labels ((bfs (queue seen) (let ((path (pop queue))) (cond ((null path) nil) ((eq (first path) 'f) (reverse path)) (t (let ((next (remove-if (lambda (n) (member n seen)) (rest (assoc (first path) graph))))) (bfs (append queue (mapcar (lambda (n) (cons n path)) next)) (append seen next))))))))
    (bfs '((a)) '(a))))

;; --- json writer
(defun to-json (x)
  (etypecase x (null "null") ((eql t) "true") (string (format nil "\"~a\"" (with-output-to-string (s) (loop for c across x do (case c (#\" (write-string "\\\"" s)) (#\Newline (write-string "\\n" s)) (t (write-char c s))))))) (integer (format nil "~d" x)) (float (format nil "~f" x)) (symbol (to-json (string-downcase (symbol-name x)))) (hash-table (format nil "{~{~a:~a~^,~}}" (loop for k being the hash-keys of x using (hash-value v) collect (to-json k) collect (to-json v)))) (vector (format nil "[~{~a~^,~}]" (map 'list #'to-json x))) (list (format nil "[~{~a~^,~}]" (mapcar #'to-json x)))))
(let ((h (make-hash-table :test 'equal))) (setf (gethash "a" h) (list 1 2.5 "q\"x")) (to-json (vector h t nil :key)))

;; --- roman numerals and bases
(list (loop for n in '(1 4 9 14 40 90 400 1994 2024) collect (format nil "~@r" n)) (format nil "~:@r" 4) (write-to-string 255 :base 2) (format nil "~8,'0b" 37) (let ((*print-base* 16)) (princ-to-string 255)) (parse-integer "1010" :radix 2) #xff #b101 #o17 #36rZZ)

;; --- english numbers
(list (format nil "~r" 1234) (format nil "~:r" 21) (format nil "~r" -7) (format nil "~r" 1000000) (format nil "~:r" 100) (format nil "~r" 0))

;; --- multiple values through forms
(defun mv () (values 1 2 3))
(list (multiple-value-list (progn (mv))) (multiple-value-list (if t (mv))) (multiple-value-list (let () (mv))) (multiple-value-list (cond ((mv)))) (multiple-value-list (or nil (mv))) (multiple-value-list (and t (mv))) (multiple-value-list (unwind-protect (mv) 1)) (multiple-value-list (catch 'x (throw 'x (mv)))) (multiple-value-list (prog1 (mv) 2)) (multiple-value-list (multiple-value-prog1 (mv) 2)) (multiple-value-list (handler-case (mv) (error () 0))) (multiple-value-list (funcall #'mv)) (multiple-value-list (apply #'mv nil)) (multiple-value-list (case 1 (1 (mv)))) (multiple-value-list (when t (mv))) (let (one) (multiple-value-list (setq one (mv)))))

;; --- values everywhere else
(list (multiple-value-list (values)) (list (values)) (multiple-value-list (gethash 1 (make-hash-table))) (multiple-value-list (parse-integer "12x" :junk-allowed t)) (multiple-value-list (read-from-string "a b")) (multiple-value-list (find-symbol "CAR")) (multiple-value-list (decode-float 8.0)) (let (a b) (multiple-value-setq (a b) (floor 9 4)) (list a b)))

;; --- bank account with errors
(define-condition insufficient (error) ((need :initarg :need :reader need)) (:report (lambda (c s) (format s "need ~,2f more" (need c)))))
(defclass account () ((balance :initform 0 :accessor balance) (log :initform '() :accessor logs)))
(defgeneric withdraw (account amount))
(defmethod withdraw ((a account) amount) (if (> amount (balance a)) (error 'insufficient :need (- amount (balance a))) (decf (balance a) amount)))
(defmethod withdraw :after ((a account) amount) (push (list :withdraw amount) (logs a)))
(let ((a (make-instance 'account))) (setf (balance a) 100) (withdraw a 30) (list (handler-case (withdraw a 100.5) (insufficient (c) (format nil "~a" c))) (balance a) (logs a)))

;; --- queue and stack
(let ((q (cons nil nil)))
  (flet ((enqueue (x) (let ((cell (list x))) (if (car q) (setf (cddr q) cell (cdr q) cell) (setf (car q) cell (cdr q) cell)))) (dequeue () (pop (car q))))
    (enqueue 1) (enqueue 2) (enqueue 3) (list (dequeue) (dequeue) (car q))))

;; --- date arithmetic
(multiple-value-bind (s m h d mo y dow) (decode-universal-time 3900000000 0) (list s m h d mo y dow (encode-universal-time 0 0 0 1 1 2000 0) (format nil "~4,'0d-~2,'0d-~2,'0d" y mo d)))

;; --- run length
(defun rle (list) (loop while list for x = (first list) for run = (or (position x list :test-not #'eql) (length list)) collect (if (= run 1) x (list run x)) do (setf list (nthcdr run list))))
(rle '(a a a b c c a))

;; --- game of life
(defun neighbours (cells x y) (loop for dx from -1 to 1 sum (loop for dy from -1 to 1 count (and (not (= 0 dx dy)) (member (cons (+ x dx) (+ y dy)) cells :test #'equal)))))
(defun next (cells) (loop for x from 0 to 4 nconc (loop for y from 0 to 4 for n = (neighbours cells x y) when (or (= n 3) (and (= n 2) (member (cons x y) cells :test #'equal))) collect (cons x y))))
(next '((2 . 1) (2 . 2) (2 . 3)))

;; --- circular lists
(let ((c (list 1 2 3)))
  (setf (cdr (last c)) c)
  (list (list-length c) (nth 7 c) (elt c 4) (equal c c)))
;; --- dotted lists
(flet ((try (thunk) (handler-case (funcall thunk) (type-error () :type-error))))
  (list (last '(1 2 . 3)) (butlast '(1 2 . 3)) (copy-list '(1 . 2)) (try (lambda () (length '(1 . 2)))) (try (lambda () (reverse '(1 . 2)))) (try (lambda () (list-length '(1 . 2)))) (append '(1) 2)))

;; --- it in a loop names the test only in the first clause
(let ((it 'z)) (loop for x in '(a b c d) when x collect it and collect it))
;; --- a new defgeneric replaces the methods of the old one
(defgeneric kind-of (x) (:method ((x symbol)) :symbol))
(defmethod kind-of ((x string)) :string)
(defgeneric kind-of (x) (:method ((x t)) :any))
(list (kind-of 'x) (kind-of "x") (kind-of 1))
;; --- loop cannot collect and decide
(loop for i from 1 to 10 collect i always (< i 20))
;; --- a special variable is no symbol macro
(symbol-macrolet ((x 10)) (declare (special x)) 20)
;; --- a dotted property list
(getf '(a 10 . b) 'c)
;; --- a name that is no function name
(fboundp '(setf foo bar))
;; --- a large gensym counter
(let ((*gensym-counter* 12345678901234567890)) (list (symbol-name (gensym)) *gensym-counter*))
;; --- values inside values as a place
(let (a b c d) (setf (values a (values b c) d) (values 0 1 2)) (list a b c d))
;; --- labels of uninterned symbols
(let ((*print-circle* t) (x (make-symbol "A"))) (prin1-to-string (list x x)))
;; --- the result of dolist is in the scope of its declarations
(let ((x :good)) (declare (special x)) (let ((x :bad)) (dolist (e nil x) (declare (special x)))))
;; --- a traced generic function takes new methods
(defgeneric traced (x))
(trace traced)
(defmethod traced ((x t)) (list x))
(prog1 (trace) (untrace))
;; --- labels in a logical block
(let ((*print-circle* t) (x (list 1)))
  (list (with-output-to-string (s) (pprint-fill s (list x x))) (format nil "~<~a ~a~:>" (list x x))))
;; --- blanks of a block become line breaks also inside an iteration
(let ((*print-right-margin* 2) (*print-pretty* t)) (format nil "~:@<~@{~A~^ ~}~:@>" 1 2 3))
;; --- loop with a tree of variables without a value
(list (loop with (a b c) of-type (fixnum fixnum t) return (list a b c)) (loop with (a b) return (list a b)))
;; --- an initialization argument without a value
(defclass filled () ((a :initarg :a)))
(shared-initialize (make-instance 'filled) nil :a)
;; --- what is no symbol is no special operator
(special-operator-p 5)
