;; --- prin1 princ print
(progn (prin1 "a") (princ "a") (print "a") (prin1 #\b) (princ #\b) (terpri))
;; --- to strings
(list (prin1-to-string "a\"b") (princ-to-string "a\"b") (prin1-to-string #\a) (princ-to-string '(a "b" #\c)) (write-to-string 255 :base 16) (write-to-string "x" :escape nil))
;; --- symbols with strange names
(list '|foo bar| '|foo| 'foo '|FOO| '|a(b| '|1| '|1/2| '|-| '|+1| '|.| '|1e5| '|a\|b| '|| :|foo| '|a:b|)
;; --- symbols that look like numbers but are none
(list '1+ '+ '- '1a '- '/ '*)
;; --- uninterned symbols
(list (prin1-to-string '#:foo) (princ-to-string '#:foo))
;; --- keywords
(list :a (princ-to-string :a) :|b c|)
;; --- quote forms
(list ''a '#'car '(quote a b) '(quote) '(function . f))
;; --- print case
(let ((*print-case* :downcase)) (list (prin1-to-string 'foo) (prin1-to-string '|Foo|) (princ-to-string :key) (prin1-to-string '(a "B" #\C))))
;; --- print case capitalize
(let ((*print-case* :capitalize)) (list (prin1-to-string 'foo-bar) (princ-to-string 'some-symbol2x)))
;; --- print base
(let ((*print-base* 16)) (list (prin1-to-string 255) (prin1-to-string 1/17) (prin1-to-string 1.5) (prin1-to-string '(10 11))))
;; --- print radix
(list (write-to-string 10 :radix t) (write-to-string 10 :radix t :base 2) (write-to-string 10 :radix t :base 8) (write-to-string 255 :radix t :base 16) (write-to-string 10 :radix t :base 5) (write-to-string 1/2 :radix t))
;; --- print length
(let ((*print-length* 3)) (list (prin1-to-string '(1 2 3 4 5)) (prin1-to-string '(1 2 3)) (prin1-to-string #(1 2 3 4)) (prin1-to-string '(1 2 3 . 4)) (prin1-to-string '((1 2 3 4) 2))))
;; --- print length zero
(let ((*print-length* 0)) (list (prin1-to-string '(1 2)) (prin1-to-string #(1)) (prin1-to-string nil)))
;; --- print level
(let ((*print-level* 2)) (list (prin1-to-string '(1 (2 (3 (4))))) (prin1-to-string #(1 #(2 #(3)))) (prin1-to-string '(((()))))))
;; --- print level zero
(let ((*print-level* 0)) (list (prin1-to-string '(1)) (prin1-to-string 'a)))
;; --- print circle
(let* ((x (list 1 2)) (*print-circle* t)) (list (prin1-to-string (list x x)) (let ((y (list 1 2))) (setf (cddr y) y) (prin1-to-string y)) (prin1-to-string '(a b))))
;; --- print circle in vectors
(let* ((v (vector 1 nil)) (*print-circle* t)) (setf (aref v 1) v) (prin1-to-string v))
;; --- circle with a length
(let ((x (list 1 2 3)) (*print-length* 5)) (setf (cdddr x) x) (prin1-to-string x))
;; --- print escape
(let ((*print-escape* nil)) (list (write-to-string "a") (prin1-to-string "a")))
;; --- print readably
(let ((*print-readably* t)) (list (prin1-to-string '(1 "a" b)) (prin1-to-string 1.5)))
;; --- printing a function readably
(let ((*print-readably* t)) (prin1-to-string #'car))
;; --- print gensym
(let ((*print-gensym* nil)) (prin1-to-string '#:g))
;; --- floats
(list 1.0 1.5 -2.25 100000.0 1e6 9999999.0 1e7 1.5e10 1e21 1e22 1e100 0.1 0.01 0.001 1e-4 1.5e-7 3.141592653589793 1e-300 (/ 1.0 3) 1.7976931348623157e308)
;; --- integers and ratios
(list 0 -5 123456789012345678901234567890 1/2 -7/3 10/4)
;; --- strings and characters
(list "" "a b" "tab	x" "new
;; --- line" #\a #\Newline #\Tab)

;; --- dotted lists
(list '(1 . 2) '(1 2 . 3) '((1 . 2) . 3) '(1 . nil) '(1 . (2 3)))
;; --- nil and t
(list nil t '() '(nil) (list))
;; --- vectors
(list #() #(1) #(a "b" #\c) #(#(1) (2)) #*1010 #*)
;; --- print returns its argument
(list (prin1 5) (princ "x") (print 'y) (write 7) (write-string "z") (write-char #\w) (write-line "l"))
;; --- terpri and fresh-line
(progn (princ "a") (list (fresh-line) (fresh-line) (terpri) (fresh-line)))
;; --- pprint
(progn (pprint '(a b c)) (pprint ''x) (terpri))
;; --- structures
(progn (defstruct point x (y 2)) (list (make-point :x 1) (princ-to-string (make-point :x "a"))))
;; --- nested structures
(progn (defstruct node value next) (make-node :value 1 :next (make-node :value "two" :next nil)))
;; --- print-object methods
(progn (defclass thing () ((name :initarg :name))) (defmethod print-object ((o thing) stream) (format stream "<thing ~a>" (slot-value o 'name))) (list (make-instance 'thing :name 'x) (format nil "~a ~s" (make-instance 'thing :name 1) (list (make-instance 'thing :name 2)))))
;; --- conditions as text
(handler-case (error "oops ~a" 5) (error (c) (princ-to-string c)))
;; --- packages
(list (find-package :cl) (princ-to-string (find-package "KEYWORD")))
;; --- functions
(list (princ-to-string #'car) (prin1-to-string #'mapcar))
;; --- symbols of other packages
(progn (make-package "OTHER" :use nil) (intern "X" "OTHER") (export (intern "Y" "OTHER") "OTHER") (list (intern "X" "OTHER") (intern "Y" "OTHER")))
;; --- write with keywords
(progn (write '(1 2 3 4) :length 2) (write "a" :escape nil) (write 10 :base 2 :radix t) (write 'abc :case :downcase))
;; --- a long list prints on one line
(loop for i below 60 collect i)
;; --- print array off
(let ((*print-array* t)) (prin1-to-string #(1 2)))
;; --- fill newlines of format
(let ((*print-right-margin* 20) (*print-pretty* t)) (format nil "~<[~;~@{~a~^ ~:_~}~;]~:>" '(aaaa bbbb cccc dddd eeee)))
;; --- pprint-fill, pprint-linear and pprint-tabular
(let ((*print-right-margin* 20) (*print-pretty* t)) (list (with-output-to-string (s) (pprint-fill s '(aaaa bbbb cccc dddd eeee))) (with-output-to-string (s) (pprint-linear s '(aaaa bbbb cccc dddd eeee))) (with-output-to-string (s) (pprint-tabular s '(aaaa bbbb cccc) t nil 8))))
;; --- pprint-logical-block
(let ((*print-right-margin* 12) (*print-pretty* t)) (with-output-to-string (s) (pprint-logical-block (s '(one two three four) :prefix "<" :suffix ">") (loop (write (pprint-pop) :stream s) (pprint-exit-if-list-exhausted) (write-char #\Space s) (pprint-newline :linear s)))))
;; --- a prefix on each line
(let ((*print-right-margin* 10) (*print-pretty* t)) (with-output-to-string (s) (pprint-logical-block (s '(1 2 3) :per-line-prefix ";; ") (loop (write (pprint-pop) :stream s) (pprint-exit-if-list-exhausted) (write-string " xxx" s) (pprint-newline :mandatory s)))))
;; --- indentation in a block
(let ((*print-right-margin* 15) (*print-pretty* t)) (list (format nil "~<(~;~a ~2i~_~a ~_~a~;)~:>" '(when condition body)) (format nil "~<(~;~a ~:i~_~a ~_~a~;)~:>" '(plus alphabet betagamma))))
;; --- print-lines
(let ((*print-right-margin* 10) (*print-pretty* t) (*print-lines* 2)) (prin1-to-string '(aaaa bbbb cccc dddd eeee ffff)))
;; --- print-length in a block
(let ((*print-length* 2) (*print-pretty* t)) (with-output-to-string (s) (pprint-fill s '(a b c d))))
;; --- pprint dispatch tables
(let ((*print-pprint-dispatch* (copy-pprint-dispatch)) (*print-pretty* t)) (set-pprint-dispatch '(cons (eql money)) (lambda (stream object) (format stream "$~a" (second object)))) (list (prin1-to-string '(money 5)) (prin1-to-string '(a (money 7))) (nth-value 1 (pprint-dispatch 'other)) (let ((*print-pretty* nil)) (prin1-to-string '(money 5)))))
;; --- readable output has all lines, whatever *print-lines* is
(let ((*print-lines* 1) (*print-pretty* t) (*print-right-margin* 12)) (list (equal '(11111 22222 33333 44444) (read-from-string (write-to-string '(11111 22222 33333 44444) :readably t))) (write-to-string '(11111 22222 33333 44444))))
;; --- readable symbols are read back by the standard syntax
(let ((*readtable* (copy-readtable))) (mapcar (lambda (how) (setf (readtable-case *readtable*) how) (let ((text (write-to-string '|abc| :readably t))) (let ((*readtable* (copy-readtable nil))) (symbol-name (read-from-string text))))) '(:upcase :downcase :preserve :invert)))
;; --- the library works under every readtable case
(let ((*readtable* (copy-readtable))) (setf (readtable-case *readtable*) :preserve) (list (boole boole-and 12 10) (mask-field (byte 2 1) 7) (ldb-test (byte 2 1) 7) (multiple-value-list (fround 5d0 2d0))))
;; --- a section tab at its column goes to the next one
(let ((*print-pretty* t)) (list (format nil "~<~a~:T~a~:>" '(a b)) (format nil "~<~a~1,2:T~a~:>" '(a b)) (with-output-to-string (*standard-output*) (pprint-logical-block (nil nil) (princ 'a) (pprint-tab :section 1 1) (princ 'b) (pprint-tab :section-relative 1 4) (princ 'c) (pprint-tab :line 1 1) (princ 'd)))))
;; --- keywords of write
(write-to-string '(a #\b "c") :miser-width 3 :pretty nil :escape t :case :downcase)
;; --- newlines and indentation in format
(let ((*print-right-margin* 20) (*print-pretty* t)) (list (format nil "~<[~;~@{~a~^ ~:_~}~;]~:>" '(aaaa bbbb cccc dddd eeee)) (format nil "~<~a ~I~:_~a ~:_~a~:>" '(aaaaaaaaa bbbbbbbb ccccccccc)) (format nil "~<(~;~a ~2I~_~a ~_~a~;)~:>" '(aaaaaaaaa bbbbbbbb ccccccccc)) (format nil "~<~a~:@_~a~:>" '(a b))))
;; --- the expected type of a dispatch table can be asked
(handler-case (copy-pprint-dispatch 0) (type-error (e) (list (type-error-datum e) (typep 0 (type-error-expected-type e)))))
