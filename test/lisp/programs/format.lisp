;; --- plain text
(format nil "hello ~~ world")
;; --- a and s
(list (format nil "~a ~s" "x" "x") (format nil "~a ~s" #\a #\a) (format nil "~a ~s" 'sym :key) (format nil "~a" '(1 "x" #\y)) (format nil "~s" '(1 "x" #\y)))
;; --- a with columns
(list (format nil "[~10a]" "abc") (format nil "[~10@a]" "abc") (format nil "[~2a]" "abc") (format nil "[~10,,,'*a]" "abc") (format nil "[~10,4a]" "abc") (format nil "[~,,3a]" "abc") (format nil "[~,,3@a]" "abc"))
;; --- a of nil
(list (format nil "~a ~:a ~s ~:s" nil nil nil nil) (format nil "~:a" '(nil)))
;; --- d
(list (format nil "~d" 42) (format nil "~d" -42) (format nil "~5d|~5d" 42 -42) (format nil "~5,'0d" 42) (format nil "~@d ~@d" 5 -5) (format nil "~:d" 1234567) (format nil "~:@d" 1234567) (format nil "~,,'.,2:d" 1234567) (format nil "~12,' ,',,3:d" 1234567))
;; --- d of other things
(list (format nil "~d" "x") (format nil "~d" 1/2) (format nil "~d" 1.5) (format nil "~5d" 'a) (format nil "~d" nil))
;; --- radix
(list (format nil "~b" 10) (format nil "~o" 64) (format nil "~x" 255) (format nil "~8,'0b" 10) (format nil "~:x" 1048576) (format nil "~x" -255) (format nil "~36r" 35) (format nil "~3r" 26) (format nil "~2,8,'0r" 5))
;; --- english
(list (format nil "~r" 0) (format nil "~r" 7) (format nil "~r" 13) (format nil "~r" 42) (format nil "~r" 100) (format nil "~r" 342) (format nil "~r" 1000) (format nil "~r" 1001001) (format nil "~r" -5) (format nil "~r" 1234567890))
;; --- english ordinals
(list (format nil "~:r" 0) (format nil "~:r" 1) (format nil "~:r" 2) (format nil "~:r" 3) (format nil "~:r" 5) (format nil "~:r" 8) (format nil "~:r" 12) (format nil "~:r" 20) (format nil "~:r" 21) (format nil "~:r" 100) (format nil "~:r" 112) (format nil "~:r" 1000000))
;; --- roman
(list (format nil "~@r" 1) (format nil "~@r" 4) (format nil "~@r" 9) (format nil "~@r" 1987) (format nil "~@r" 3999) (format nil "~:@r" 4) (format nil "~:@r" 1999))
;; --- roman out of range
(format nil "~@r" 0)
;; --- r of a float
(format nil "~r" 1.5)
;; --- c
(list (format nil "~c" #\a) (format nil "~:c" #\Newline) (format nil "~@c" #\a) (format nil "~:c" #\a) (format nil "~@c" #\Newline))
;; --- p
(list (format nil "~d cat~:p" 1) (format nil "~d cat~:p" 2) (format nil "~d pupp~:@p" 1) (format nil "~d pupp~:@p" 3) (format nil "cat~p" 1) (format nil "cat~p" 0) (format nil "famil~@p" 2))
;; --- newlines and pages
(list (format nil "a~%b") (format nil "a~3%b") (format nil "a~&b") (format nil "a~%~&b") (format nil "~&a") (format nil "~2&a") (format nil "a~2&b") (format nil "~3~"))
;; --- tilde newline
(list (format nil "a~
   b") (format nil "a~@
   b") (format nil "a~:
   b"))
;; --- f basics
(list (format nil "~f" 3.14159) (format nil "~,2f" 3.14159) (format nil "~8,2f" 3.14159) (format nil "~8,2,,,'*f" 3.14159) (format nil "~,0f" 2.5) (format nil "~,0f" 3.5) (format nil "~,1f" 0.25) (format nil "~,1f" 0.35) (format nil "~@f" 2.0) (format nil "~5f" 3.14159))
;; --- f rounding
(list (format nil "~,2f" 0.005) (format nil "~,2f" 0.015) (format nil "~,2f" 1.005) (format nil "~,2f" 99.995) (format nil "~,3f" 2.0005) (format nil "~,1f" 0.05) (format nil "~,1f" 9.95) (format nil "~,2f" 1e10) (format nil "~,2f" -0.001))
;; --- f with scale and overflow
(list (format nil "~,,2f" 0.5) (format nil "~6,2,1f" 12.345) (format nil "~4,2,,'#f" 1234.5) (format nil "~3,2f" 1234.5) (format nil "~4,1f" 0.05) (format nil "~3f" 0.5) (format nil "~2f" 0.5))
;; --- f of big and small
(list (format nil "~f" 1e20) (format nil "~f" 1e-5) (format nil "~f" 123456789.0) (format nil "~10f" 1e-5) (format nil "~,5f" 1e-7) (format nil "~f" 0.0) (format nil "~f" -0.5))
;; --- f of no number
(list (format nil "~f" "abc") (format nil "~8f" 'x) (format nil "~5,2f" nil))
;; --- e basics
(list (format nil "~e" 3.14159) (format nil "~,2e" 3.14159) (format nil "~12,3e" 3.14159) (format nil "~e" 1e10) (format nil "~e" 1.5e-5) (format nil "~,3,2e" 31415.9) (format nil "~@e" 1.0) (format nil "~e" 0.0))
;; --- e with scale
(list (format nil "~,3,,0e" 3.14159) (format nil "~,3,,2e" 3.14159) (format nil "~,3,,-1e" 3.14159) (format nil "~10,2,,,'*e" 1e100) (format nil "~8,1,,,,'0e" 12345.6))
;; --- g
(list (format nil "~g|" 3.14159) (format nil "~,3g|" 3.14159) (format nil "~10g|" 1e10) (format nil "~,2g|" 1e-5) (format nil "~g|" 0.0) (format nil "~12,4g|" 123.456) (format nil "~g|" 100.0))
;; --- dollars
(list (format nil "~$" 3.14159) (format nil "~$" 1234.5) (format nil "~3$" 2.5) (format nil "~2,4$" 2.5) (format nil "~2,1,10$" 2.5) (format nil "~@$" 2.5) (format nil "~:@$" -2.5) (format nil "~2,1,10:$" -2.5) (format nil "~$" 0.005) (format nil "~$" 0.0))
;; --- iteration
(list (format nil "~{~a~}" '(1 2 3)) (format nil "~{~a, ~}" '(1 2)) (format nil "~{~a~^, ~}" '(1 2 3)) (format nil "~{~a=~a~^ ~}" '(a 1 b 2)) (format nil "~{~a~}" nil) (format nil "~2{~a~}" '(1 2 3)) (format nil "~{x~:}" nil) (format nil "~0{~a~:}" '(1)))
;; --- iteration over sublists
(list (format nil "~:{~a-~a ~}" '((1 2) (3 4))) (format nil "~:{~a~^-~a ~}" '((1) (3 4))) (format nil "~:@{~a+~a ~}" '(1 2) '(3 4)) (format nil "~1:{~a~}" '((1) (2))))
;; --- iteration over the rest
(list (format nil "~@{~a~^, ~}" 1 2 3) (format nil "~a: ~@{~a~^ ~}" 'x 1 2) (format nil "~2@{~a~} ~a" 1 2 3))
;; --- iteration with a string for a body
(list (format nil "~{~}" "<~a>" '(1 2)) (format nil "~@{~}" "~a." 1 2))
;; --- nested iteration
(format nil "~{~{~a~^,~}~^; ~}" '((1 2) (3) (4 5 6)))
;; --- leaving all sublists
(list (format nil "~:{~a~:^, ~}" '((1) (2) (3))) (format nil "~:{~a~:^~a ~}" '((1 2) (3 4))))
;; --- iteration over no list
(format nil "~{~a~}" 5)
;; --- choice
(list (format nil "~[zero~;one~;two~]" 1) (format nil "~[zero~;one~]" 5) (format nil "~[zero~:;other~]" 5) (format nil "~[a~]" 0) (format nil "~[~]" 0) (format nil "~[a~;b~:;c~]" -1))
;; --- choice by parameter
(list (format nil "~1[a~;b~]") (format nil "~#[none~;one~;two~:;many~]" 1 2) (format nil "~v[a~;b~]" 1))
;; --- choice by truth
(list (format nil "~:[no~;yes~]" nil) (format nil "~:[no~;yes~]" 5) (format nil "~@[x=~a~]" 5) (format nil "~@[x=~a~]|" nil) (format nil "~@[~a ~]~a" nil 2))
;; --- choice of no integer
(format nil "~[a~]" 'x)
;; --- case conversion
(list (format nil "~(Hello World~)" ) (format nil "~:(hello wORLD~)") (format nil "~@(hello WORLD~)") (format nil "~:@(hello~)") (format nil "~(~a~)" 'FOO) (format nil "~:(~a~)" 'foo-bar) (format nil "~@(~r~)" 42))
;; --- nested case conversion
(list (format nil "~(A~:@(b~)C~)") (format nil "~:(~{~a ~}~)" '(foo bar)))
;; --- justification
(list (format nil "~10<a~;b~>|") (format nil "~10<abc~>|") (format nil "~10@<abc~>|") (format nil "~10:<abc~>|") (format nil "~10:@<abc~>|") (format nil "~20<a~;bb~;ccc~>|") (format nil "~20:@<a~;bb~;ccc~>|"))
;; --- justification details
(list (format nil "~10,,,'*<a~;b~>|") (format nil "~5,5,2<abc~;def~>|") (format nil "~4<abcdef~>|") (format nil "~10<~a~;~a~>|" 1 2) (format nil "~15<~a~;~^~a~;~^~a~>|" 1))
;; --- tabs
(list (format nil "a~10tb") (format nil "abc~2tb") (format nil "a~5,5tb") (format nil "abcdef~4,3tx") (format nil "a~3@tb") (format nil "ab~1,8@tx") (format nil "~%ab~5tx"))
;; --- arguments
(list (format nil "~a ~*~a" 1 2 3) (format nil "~a ~:*~a" 1) (format nil "~a ~a ~@*~a" 1 2) (format nil "~2*~a" 1 2 3) (format nil "~a~1@*~a" 1 2) (format nil "~2:*~a" 1))
;; --- goto before the first argument
(format nil "~a~3:*" 1)
;; --- indirection
(list (format nil "~? ~a" "~a-~a" '(1 2) 3) (format nil "~@? ~a" "~a-~a" 1 2 3))
;; --- v and sharp
(list (format nil "~va|" 5 'x) (format nil "~v,'0d" 4 7) (format nil "~,vf" 2 3.14159) (format nil "~#d" 1 2 3) (format nil "~va" nil 'x) (format nil "~5,vd" #\* 3) (format nil "~{~a~#[~; and ~:;, ~]~}" '(a b c)))
;; --- list in english
(flet ((l (x) (format nil "~{~#[none~;~a~;~a and ~a~:;~@{~a~#[~;, and ~:;, ~]~}~]~:}" x))) (list (l nil) (l '(a)) (l '(a b)) (l '(a b c)) (l '(a b c d))))
;; --- too few arguments
(format nil "~a ~a" 1)
;; --- too many arguments
(format nil "~a" 1 2 3)
;; --- unknown directive
(format nil "~y" 1)
;; --- missing close
(format nil "~{~a" '(1))
;; --- unmatched close
(format nil "~a~}" 1)
;; --- caret at the top
(list (format nil "a~^b") (format nil "~a~^, ~a" 1) (format nil "~a~^, ~a" 1 2) (format nil "~0^x") (format nil "~1,1^x") (format nil "~1,2^x") (format nil "~1,2,3^x"))
;; --- format to t
(format t "x~ay~%" 1)
;; --- format to standard output returns nil
(list (format t "") (format nil ""))
;; --- format to a stream
(with-output-to-string (s) (format s "~a" 1) (format s "~s" "b"))
;; --- format to a string with a fill pointer
(let ((s (make-array 0 :element-type 'character :fill-pointer 0 :adjustable t))) (format s "~a-~a" 1 2) s)
;; --- function as control
(format nil (formatter "~a!") 5)
;; --- a function called by name
(progn (defun cl-user::shout (stream arg colon at &rest more) (format stream "<~a ~a ~a ~a>" arg colon at more)) (format nil "~/cl-user::shout/ ~3:@/cl-user::shout/" 1 2))
;; --- w
(list (format nil "~w" "x") (format nil "~w" 'a))
;; --- fresh line to standard output
(progn (format t "a~&b~&") (format t "~&c"))
;; --- columns across calls
(progn (format t "abc") (format t "~10tx~%"))
;; --- a table
(format nil "~{~10a~5d~%~}" '("apple" 3 "fig" 12))
;; --- money table
(format nil "~{~a ~8,2f~%~}" '("a" 1.5 "b" 100.25))
;; --- padded english
(format nil "~30<~r~>|" 21)
;; --- plural sentence
(flet ((s (n) (format nil "There ~[are~;is~:;are~] ~:*~d item~:p" n))) (list (s 0) (s 1) (s 2)))
;; --- format-arguments of an error
(handler-case (error "bad ~a and ~s" 1 "x") (error (c) (format nil "~a" c)))
