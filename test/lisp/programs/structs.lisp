DEFSTRUCT and what it makes.

;; --- make and print
(defstruct point x y) (make-point :x 1 :y 2)
;; --- name is the value
(defstruct point x y)
;; --- accessors
(defstruct point x y) (let ((p (make-point :x 1 :y 2))) (list (point-x p) (point-y p)))
;; --- defaults
(defstruct point (x 0) (y (+ 1 1))) (make-point)
;; --- default sees earlier slot
(defstruct pair (a 1) (b (* 2 a))) (make-pair :a 5)
;; --- setf accessor
(defstruct point x y) (let ((p (make-point :x 1))) (setf (point-x p) 10) (incf (point-x p)) p)
;; --- predicate
(defstruct point x) (list (point-p (make-point)) (point-p 5) (typep (make-point) 'point))
;; --- copier
(defstruct point x) (let* ((p (make-point :x 1)) (q (copy-point p))) (setf (point-x q) 2) (list p q))
;; --- conc-name
(defstruct (point (:conc-name p-)) x) (p-x (make-point :x 3))
;; --- conc-name nil
(defstruct (thing (:conc-name nil)) weight) (weight (make-thing :weight 3))
;; --- constructor renamed
(defstruct (point (:constructor new-point)) x) (new-point :x 1)
;; --- boa constructor
(defstruct (point (:constructor point (x y))) x y) (point 1 2)
;; --- boa with optional and key
(defstruct (v (:constructor mk (a &optional (b 7) &key (c 9) d))) a b c d) (list (mk 1) (mk 1 2 :d 3))
;; --- boa with rest and aux
(defstruct (v (:constructor mk (a &rest b &aux (c 5)))) a b c) (mk 1 2 3)
;; --- two constructors
(defstruct (p (:constructor make-p) (:constructor p (x))) x) (list (make-p :x 1) (p 2))
;; --- no constructor
(defstruct (p (:constructor nil)) x) (fboundp 'make-p)
;; --- include
(defstruct animal (legs 4)) (defstruct (bird (:include animal (legs 2))) wings) (let ((b (make-bird :wings 2))) (list b (animal-legs b) (bird-legs b) (animal-p b) (typep b 'animal)))
;; --- include adds slots in order
(defstruct a x) (defstruct (b (:include a)) y) (make-b :x 1 :y 2)
;; --- predicate renamed
(defstruct (p (:predicate is-p)) x) (list (is-p (make-p)) (fboundp 'p-p))
;; --- copier nil
(defstruct (p (:copier nil)) x) (fboundp 'copy-p)
;; --- type list
(defstruct (p (:type list)) x y) (let ((p (make-p :x 1 :y 2))) (list p (p-x p) (progn (setf (p-y p) 5) p)))
;; --- type list named
(defstruct (p (:type list) :named) x y) (let ((p (make-p :x 1 :y 2))) (list p (p-x p) (p-p p) (p-p '(q 1))))
;; --- type vector
(defstruct (p (:type vector)) x y) (let ((p (make-p :x 1 :y 2))) (list p (p-y p)))
;; --- initial-offset
(defstruct (p (:type list) (:initial-offset 2)) x) (p-x (make-p :x 4))
;; --- docstring is allowed
(defstruct point "A point." x) (point-x (make-point :x 1))
;; --- wrong structure for accessor
(defstruct a x) (defstruct b x) (a-x (make-b))
;; --- accessor on a number
(defstruct a x) (a-x 5)
;; --- unknown initarg
(defstruct a x) (make-a :y 1)
;; --- equalp but not equal
(defstruct a x) (list (equalp (make-a :x 1) (make-a :x 1.0)) (equal (make-a :x 1) (make-a :x 1)) (eql (make-a) (make-a)))
;; --- type-of
(defstruct a) (list (type-of (make-a)) (class-name (class-of (make-a))))
;; --- print function
(defstruct (a (:print-function (lambda (s stream depth) (declare (ignore depth)) (format stream "<a ~a>" (a-x s))))) x) (princ-to-string (make-a :x 3))
;; --- print object option
(defstruct (a (:print-object (lambda (s stream) (format stream "<a ~a>" (a-x s))))) x) (prin1-to-string (make-a :x 3))
;; --- print-object method
(defstruct a x) (defmethod print-object ((a a) stream) (format stream "<~a>" (a-x a))) (list (make-a :x 1) (make-a :x "s"))
;; --- slots with options
(defstruct p (x 0 :type integer) (y 1 :read-only t)) (make-p)
;; --- read-only is not setfable
(defstruct p (y 1 :read-only t)) (fboundp '(setf p-y))
;; --- nested structures print
(defstruct p x) (make-p :x (make-p :x '(1 "two" #\3)))
;; --- read syntax
(defstruct p x y) (let ((p (read-from-string "#S(p :x 1 :y (a b))"))) (list (p-p p) (p-x p) (p-y p)))
;; --- slot-value on structure
(defstruct p x) (let ((p (make-p :x 1))) (setf (slot-value p 'x) 2) (slot-value p 'x))
;; --- method on structure
(defstruct shape) (defstruct (circle (:include shape)) r) (defgeneric area (s)) (defmethod area ((s shape)) 0) (defmethod area ((c circle)) (* 3 (circle-r c) (circle-r c))) (list (area (make-shape)) (area (make-circle :r 2)))
;; --- accessors are functions
(defstruct p x) (mapcar #'p-x (list (make-p :x 1) (make-p :x 2)))
;; --- sort by accessor
(defstruct p n) (mapcar #'p-n (sort (list (make-p :n 3) (make-p :n 1) (make-p :n 2)) #'< :key #'p-n))
;; --- with-slots on structure
(defstruct p x y) (with-slots (x y) (make-p :x 1 :y 2) (list x y))
;; --- keyword constructor with list default not shared
(defstruct p (items (list))) (let ((a (make-p)) (b (make-p))) (push 1 (p-items a)) (list a b))
;; --- conc-name empty string
(defstruct (p (:conc-name "")) weightx) (weightx (make-p :weightx 2))
;; --- defstruct in a let
(let ((n 5)) (defstruct p (x n))) (p-x (make-p))
;; --- copy-structure
(defstruct p x) (let ((p (make-p :x 1))) (equalp p (copy-structure p)))
;; --- rotatef slots
(defstruct p x y) (let ((p (make-p :x 1 :y 2))) (rotatef (p-x p) (p-y p)) p)
;; --- push to slot
(defstruct p (l '())) (let ((p (make-p))) (push 1 (p-l p)) (pushnew 1 (p-l p)) (pop (p-l p)) p)
;; --- typecase over structures
(defstruct a) (defstruct (b (:include a))) (mapcar (lambda (x) (typecase x (b 'b) (a 'a) (t 'other))) (list (make-a) (make-b) 1))
;; --- struct keys in a table
(defstruct p x) (let ((h (make-hash-table :test 'equalp))) (setf (gethash (make-p :x 1) h) 'found) (gethash (make-p :x 1) h))
;; --- accessors named like the slots
(defpackage "ELSEWHERE" (:use)) (defstruct (plain (:conc-name nil)) elsewhere::size) (list (elsewhere::size (make-plain :size 3)))
;; --- a character as conc-name
(defstruct (spot (:conc-name #\X)) place) (xplace (make-spot :place 1))
;; --- an empty prefix interns accessors in the current package
(progn (defpackage :slot-home (:export #:sh-a)) (defstruct (empty-prefix (:conc-name "")) slot-home::sh-b) (let ((made (make-empty-prefix :sh-b 5))) (list (sh-b made) (fboundp 'slot-home::sh-b))))
