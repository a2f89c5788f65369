;; --- names
(list (symbol-name 'foo) (symbol-name :bar) (symbol-name '|x y|) (symbol-name nil))
;; --- symbol-name of a string
(symbol-name "a")
;; --- packages of symbols
(list (package-name (symbol-package 'car)) (package-name (symbol-package :k)) (symbol-package '#:g) (package-name (symbol-package nil)))
;; --- intern and find-symbol
(list (eq (intern "FOO") 'foo) (multiple-value-list (find-symbol "CAR")) (multiple-value-list (find-symbol "NO-SUCH-SYMBOL-HERE")) (nth-value 1 (intern "BRAND-NEW")) (nth-value 1 (intern "BRAND-NEW")))
;; --- make-symbol
(let ((s (make-symbol "FOO"))) (list (eq s 'foo) (symbol-name s) (symbol-package s) (string= s 'foo)))
;; --- gensym
(let ((a (gensym)) (b (gensym))) (list (eq a b) (symbol-package a) (char (symbol-name a) 0) (char (symbol-name (gensym "X")) 0)))
;; --- values of symbols
(progn (defvar *v* 5) (list (symbol-value '*v*) (boundp '*v*) (boundp 'unbound-thing) (setf (symbol-value '*v*) 6) *v* (set '*v* 7) *v*))
;; --- symbol-value of an unbound symbol
(symbol-value 'never-bound)
;; --- functions of symbols
(progn (defun f1 (x) (* x 2)) (list (not (fboundp 'car)) (not (fboundp 'f1)) (fboundp 'no-such-function) (funcall (symbol-function 'f1) 4) (progn (setf (symbol-function 'f2) #'f1) (f2 5)) (progn (fmakunbound 'f2) (fboundp 'f2))))
;; --- symbol-function of an undefined function
(symbol-function 'never-defined)
;; --- makunbound
(progn (defvar *w* 1) (makunbound '*w*) (boundp '*w*))
;; --- property lists
(progn (setf (get 'p 'a) 1 (get 'p 'b) 2) (list (symbol-plist 'p) (get 'p 'a) (get 'p 'z 'none)))
;; --- keywords evaluate to themselves
(list :a (symbol-value :a) (keywordp :a) (constantp :a))
;; --- packages
(list (package-name (find-package "COMMON-LISP")) (package-name (find-package :cl)) (find-package "NO-SUCH-PACKAGE") (packagep (find-package :keyword)) (package-name (find-package 'keyword)))
;; --- package-name of no package
(package-name "NO-SUCH-PACKAGE")
;; --- unintern
(progn (intern "GONE") (list (unintern (find-symbol "GONE")) (find-symbol "GONE")))
;; --- copy-symbol
(let ((s (copy-symbol 'foo))) (list (symbol-name s) (symbol-package s) (eq s 'foo)))
;; --- documentation
(progn (defun doc-f () "Says hello." 1) (defvar *doc-v* 1 "A variable.") (defmacro doc-m () "A macro." 1) (list (documentation 'doc-f 'function) (documentation '*doc-v* 'variable) (documentation 'doc-m 'function) (documentation 'no-doc 'function)))
;; --- setf documentation
(progn (defun doc-g () 1) (setf (documentation 'doc-g 'function) "New.") (documentation 'doc-g 'function))
;; --- apropos-list
(not (null (member 'mapcar (apropos-list "MAPCA" :cl))))
;; --- string designators
(list (string= 'a "A") (string-upcase 'x) (find-symbol (string 'car)) (intern (string-upcase "car")))
;; --- symbols are compared by identity
(list (eq 'a 'a) (eq 'a 'A) (eq '|a| 'a) (eq :a 'a) (equal '#:a '#:a))
;; --- a deleted package has no name
(let ((p (make-package "TO-BE-DELETED" :use '()))) (list (delete-package p) (package-name p) (find-package "TO-BE-DELETED") (delete-package p)))
;; --- deleting a package that another uses
(let ((p (make-package "USED-PACKAGE" :use '())) (q (make-package "USING-PACKAGE" :use '())))
  (use-package p q)
  (list (handler-bind ((package-error #'continue)) (delete-package p)) (package-use-list q) (delete-package q)))
;; --- rename-package
(make-package "OLD-NAME" :use nil) (rename-package "OLD-NAME" "NEW-NAME" '("NN")) (list (find-package "OLD-NAME") (package-name (find-package "NN")) (package-nicknames "NEW-NAME"))
;; --- with-package-iterator
(defpackage "ITERATED" (:use) (:export "OUT") (:intern "IN")) (sort (let ((found nil)) (with-package-iterator (next "ITERATED" :internal :external) (loop (multiple-value-bind (more symbol status) (next) (unless more (return found)) (push (list (symbol-name symbol) status) found))))) #'string< :key #'first)
;; --- do-all-symbols
(let ((count 0)) (do-all-symbols (s) (when (eq s 'car) (incf count))) (plusp count))
;; --- a character names a package
(make-package "Z" :use nil) (list (package-name #\Z) (null (find-package #\Q)))
;; --- a package that exists already
(make-package "TWICE" :use nil) (handler-case (make-package "TWICE" :use nil) (package-error () :exists))
;; --- an import of a missing symbol can be continued
(make-package "EMPTY" :use nil) (handler-bind ((package-error #'continue)) (defpackage "BORROWER" (:use) (:import-from "EMPTY" "X"))) (nth-value 1 (find-symbol "X" "BORROWER"))
