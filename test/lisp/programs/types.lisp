;; --- typep of atoms
(flet ((ts (x) (loop for type in '(null symbol keyword list cons atom integer fixnum bit rational ratio float number character string vector array sequence function hash-table boolean) when (typep x type) collect type))) (mapcar #'ts (list nil t 'a :a 0 5 1/2 1.5 #\a "s" #(1) '(1) #'car)))
;; --- typep of compounds
(list (typep 5 '(integer 0 10)) (typep 5 '(integer (5) 10)) (typep 5 '(or string integer)) (typep 5 '(and integer (satisfies evenp))) (typep 'a '(member a b)) (typep 3 '(eql 3)) (typep 5 '(not string)) (typep 1.5 '(float 0.0 2.0)) (typep 255 '(unsigned-byte 8)) (typep 256 '(unsigned-byte 8)) (typep -128 '(signed-byte 8)) (typep 3 '(mod 4)) (typep 4 '(mod 4)))
;; --- typep of arrays
(list (typep #(1 2) '(vector * 2)) (typep #(1 2) '(simple-vector 3)) (typep "abc" '(string 3)) (typep (make-array '(2 3)) '(array * (2 3))) (typep (make-array '(2 3)) '(array * 2)) (typep "a" '(vector character)) (typep #*1 'bit-vector))
;; --- typep of conses
(list (typep '(1 . a) '(cons integer symbol)) (typep '(1 . 2) '(cons integer symbol)) (typep '(1) '(cons * null)))
;; --- typep of an unknown type
(typep 1 'no-such-type)
;; --- deftype
(progn (deftype small () '(integer 0 9)) (deftype pair (a b) `(cons ,a ,b)) (list (typep 5 'small) (typep 10 'small) (typep '(1 . a) '(pair integer symbol)) (typep '(1 . 2) '(pair integer symbol))))
;; --- typecase
(mapcar (lambda (x) (typecase x (null :null) (integer :int) ((or string symbol) :name) (cons :cons) (t :other))) (list nil 1 "a" 'a '(1) 1.5))
;; --- type-of
(mapcar #'type-of (list nil t 'a :a 1/2 1.5 #\a '(1) #(1 2) #*101 "abc" (make-hash-table)))
;; --- type-of integers
(list (type-of 0) (type-of 1) (type-of 5) (type-of -1) (type-of (expt 2 80)))
;; --- type-of objects
(progn (defstruct s1) (defclass c1 () ()) (list (type-of (make-s1)) (type-of (make-instance 'c1)) (typep (make-s1) 's1) (typep (make-s1) 'structure-object) (typep (make-instance 'c1) 'standard-object)))
;; --- subtypep
(flet ((s (a b) (multiple-value-list (subtypep a b)))) (list (s 'integer 'number) (s 'number 'integer) (s 'null 'list) (s 'null 'symbol) (s 'string 'vector) (s 'string 'sequence) (s 'keyword 'symbol) (s nil 'integer) (s 'integer t) (s 'cons 'list) (s 'list 'sequence) (s 'fixnum 'integer)))
;; --- subtypep of ranges
(flet ((s (a b) (multiple-value-list (subtypep a b)))) (list (s '(integer 0 5) '(integer 0 10)) (s '(integer 0 50) '(integer 0 10)) (s 'bit '(integer 0 1)) (s '(mod 4) 'bit) (s '(unsigned-byte 8) '(unsigned-byte 16)) (s '(integer 0 5) 'integer)))
;; --- subtypep of combinations
(flet ((s (a b) (multiple-value-list (subtypep a b)))) (list (s '(or integer string) '(or string number)) (s '(member 1 2) 'integer) (s '(member 1 a) 'integer) (s '(and integer (satisfies evenp)) 'integer) (s '(eql a) 'symbol) (s 'integer '(or symbol integer))))
;; --- subtypep of classes
(progn (defclass a1 () ()) (defclass b1 (a1) ()) (defstruct sa) (defstruct (sb (:include sa))) (flet ((s (a b) (multiple-value-list (subtypep a b)))) (list (s 'b1 'a1) (s 'a1 'b1) (s 'b1 'standard-object) (s 'sb 'sa) (s 'type-error 'error) (s 'error 'condition))))
;; --- coerce to sequences
(list (coerce "abc" 'list) (coerce '(1 2) 'vector) (coerce '(#\a #\b) 'string) (coerce #(1 2) 'list) (coerce '(1 0 1) 'bit-vector) (coerce nil 'vector) (coerce "ab" 'vector) (coerce '(1 2) 'list) (coerce '(1 2) 'simple-vector))
;; --- coerce to numbers
(list (coerce 1 'double-float) (coerce 1/4 'double-float) (coerce 5 'integer) (coerce 2.5 'float) (coerce 3 'number) (coerce 1/2 'rational))
;; --- coerce of a float to an integer
(coerce 1.5 'integer)
;; --- coerce to characters and functions
(list (coerce "a" 'character) (coerce 'b 'character) (funcall (coerce 'car 'function) '(1 2)) (funcall (coerce (lambda (x) (* x 2)) 'function) 4))
;; --- coerce of a symbol to a string
(coerce 'abc 'string)
;; --- coerce of a number to a list
(coerce 5 'list)
;; --- coerce to anything
(coerce 5 t)
;; --- predicates
(list (functionp #'car) (functionp 'car) (symbolp nil) (keywordp :a) (keywordp 'a) (consp '(1)) (listp nil) (vectorp #(1)) (vectorp "a") (arrayp (make-array '(1 1))) (packagep (find-package :cl)) (compiled-function-p #'car))
;; --- check-type
(let ((x 5)) (check-type x integer) (list x (handler-case (let ((y "s")) (check-type y integer) y) (type-error (c) (list (type-error-datum c) (type-error-expected-type c))))))
;; --- type errors carry their datum
(handler-case (car 5) (type-error (c) (list (type-error-datum c) (type-error-expected-type c))))
;; --- type error of a vector index
(handler-case (aref #(1 2) 9) (type-error (c) (type-error-datum c)))
;; --- etypecase failure
(etypecase 5 (string 1) (symbol 2))
;; --- the declares only
(list (the integer 5) (let ((x 1)) (declare (type integer x)) x))
;; --- subtypep of negations
(mapcar (lambda (pair) (multiple-value-list (subtypep (first pair) (second pair)))) '(((not null) (not symbol)) ((not cons) (not list)) ((not list) (not cons)) ((not symbol) (not null)) ((and symbol (not null)) symbol) (t (or null (not null))) ((and integer (not (integer 0 10))) (or (integer * -1) (integer 11 *)))))
;; --- subtypep of members and ranges
(mapcar (lambda (pair) (multiple-value-list (subtypep (first pair) (second pair)))) '((null boolean) (boolean symbol) ((integer 2 5) (member 2 3 4 5)) ((integer 2 6) (member 2 3 4 5)) ((member 1 2 3) (integer 0 5)) ((member 1 a) (or integer symbol)) ((integer (0) (3)) (integer 1 2)) ((rational 0 1) (rational (0) 1)) ((or (integer 0 4) (integer 5 9)) (integer 0 9)) ((eql 1) bit) (keyword symbol) ((integer 0 9) (or (integer 0 4) (integer 5 9)))))
;; --- subtypep of conses and arrays
(mapcar (lambda (pair) (multiple-value-list (subtypep (first pair) (second pair)))) '(((cons integer) (cons number)) ((cons integer symbol) (cons integer list)) ((cons (or integer symbol) t) (or (cons integer) (cons symbol))) (cons list) (list (or cons null)) ((array t (2 3)) (array t 2)) ((vector t 3) (array t (3))) ((array t 2) vector) (simple-vector vector) (list sequence) (vector sequence) ((cons nil t) nil)))
;; --- subtypep of classes and structures
(defclass ca () ()) (defclass cb (ca) ()) (defstruct sa) (defstruct (sb (:include sa))) (defstruct sc)
(mapcar (lambda (pair) (multiple-value-list (subtypep (first pair) (second pair)))) '((cb ca) (ca cb) (cb standard-object) (sb sa) (sa sb) ((and sa sc) nil) (sa structure-object) (ca sa) ((and ca integer) nil) ((not ca) (not cb)) ((not cb) (not ca)) (warning condition) (error warning)))
;; --- a class object as a type
(list (make-sequence (find-class 'list) 2 :initial-element 1) (typep 1 (find-class 'integer)) (coerce '(1) (find-class 'vector)) (subtypep (find-class 'integer) 'number))
