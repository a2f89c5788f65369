LOOP, simple and extended.

;; --- simple loop ends by return
(let ((i 0)) (loop (incf i) (when (> i 5) (return i))))
;; --- collect in
(loop for x in '(1 2 3) collect (* x x))
;; --- collect on
(loop for x on '(1 2 3) collect x)
;; --- collect on dotted
(loop for x on '(1 2 . 3) collect x)
;; --- in by
(loop for x in '(1 2 3 4 5) by #'cddr collect x)
;; --- on by
(loop for x on '(1 2 3 4 5) by #'cddr collect (car x))
;; --- across string
(loop for c across "abc" collect c)
;; --- across vector with index
(loop for x across #(a b c) for i from 0 collect (list i x))
;; --- from to
(loop for i from 1 to 5 collect i)
;; --- from upto
(loop for i from 1 upto 5 collect i)
;; --- from below
(loop for i from 0 below 5 collect i)
;; --- by step
(loop for i from 0 to 10 by 3 collect i)
;; --- downfrom to
(loop for i downfrom 5 to 1 collect i)
;; --- from downto
(loop for i from 5 downto 1 by 2 collect i)
;; --- from above
(loop for i from 5 above 1 collect i)
;; --- downfrom above
(loop for i downfrom 3 above 0 collect i)
;; --- upfrom
(loop for i upfrom 3 repeat 3 collect i)
;; --- to without from
(loop for i to 3 collect i)
;; --- below without from
(loop for i below 3 collect i)
;; --- by before to
(loop for i by 2 from 1 to 6 collect i)
;; --- ratio and float steps
(list (loop for i from 1/2 to 2 by 1/2 collect i) (loop for i from 0.5 to 2 by 0.5 collect i))
;; --- for equals
(loop for x = 1 repeat 3 collect x)
;; --- for equals then
(loop for x = 1 then (* x 2) repeat 6 collect x)
;; --- for sequential sees earlier
(loop for x in '(1 2 3) for y = (* x 10) collect (list x y))
;; --- for parallel and
(loop for x = 0 then y and y = 1 then (+ x y) repeat 8 collect x)
;; --- for parallel lists
(loop for x in '(1 2 3) and y in '(a b c d) collect (list x y))
;; --- shortest list ends
(loop for x in '(1 2 3) for y in '(a b) collect (cons x y))
;; --- repeat
(loop repeat 3 collect 'x)
;; --- repeat zero and negative
(list (loop repeat 0 collect 1) (loop repeat -2 collect 1))
;; --- while
(loop for i from 0 while (< i 4) collect i)
;; --- until
(loop for i from 0 until (> i 4) collect i)
;; --- while after collect
(loop for i from 0 collect i while (< i 3))
;; --- with
(loop with a = 1 with b = (+ a 1) repeat 1 collect (list a b))
;; --- with and
(let ((a 10)) (loop with a = 1 and b = a repeat 1 collect (list a b)))
;; --- with without value
(loop with a repeat 1 collect a)
;; --- with destructuring
(loop with (a b . c) = '(1 2 3 4) repeat 1 collect (list a b c))
;; --- sum and count
(list (loop for i from 1 to 10 sum i) (loop for i from 1 to 10 count (evenp i)))
;; --- summing nothing
(list (loop for i in nil sum i) (loop for i in nil count i) (loop for i in nil maximize i) (loop for i in nil collect i))
;; --- maximize and minimize
(list (loop for x in '(3 1 4 1 5) maximize x) (loop for x in '(3 1 4 1 5) minimize x))
;; --- append and nconc
(list (loop for x in '((1 2) (3) nil (4)) append x) (loop for x in '(1 2) nconc (list x x)))
;; --- append dotted last
(loop for x in '((1) (2 . 3)) append x)
;; --- ing forms
(list (loop for i below 3 collecting i) (loop for i below 3 summing i) (loop for i below 3 counting t) (loop for i below 3 appending (list i)) (loop for i below 3 maximizing i) (loop for i below 3 minimizing i))
;; --- into
(loop for i from 1 to 4 collect i into all sum i into total finally (return (list all total)))
;; --- two kinds into one list
(loop for i from 1 to 3 collect i append (list 'a i))
;; --- sum and count together
(loop for i from 1 to 3 sum i count t)
;; --- when collect
(loop for i from 1 to 6 when (evenp i) collect i)
;; --- if else
(loop for i from 1 to 4 if (evenp i) collect i else collect (- i))
;; --- unless
(loop for i from 1 to 4 unless (evenp i) collect i)
;; --- if and else end
(loop for i from 1 to 4 if (evenp i) collect i and collect 'e else collect i and collect 'o end collect '/)
;; --- nested if
(loop for i from 1 to 12 if (evenp i) if (zerop (mod i 3)) collect (list i 'six) else collect i end else collect 'odd)
;; --- when do and
(loop for i from 1 to 3 when (oddp i) do (princ i) and collect (* i 10))
;; --- it
(loop for x in '(a b c) when (cdr (assoc x '((a . 1) (c . 3)))) collect it)
;; --- return it
(loop for x in '(1 nil 3) for y in '(nil 5 6) when (and x y) return it)
;; --- else with it free
(loop for x in '(1 2) if (eql x 5) collect it else collect 'no)
;; --- always
(list (loop for x in '(2 4) always (evenp x)) (loop for x in '(2 3) always (evenp x)))
;; --- never
(list (loop for x in '(2 4) never (oddp x)) (loop for x in '(2 3) never (oddp x)))
;; --- thereis
(list (loop for x in '(1 2 3) thereis (and (> x 1) (* x 10))) (loop for x in '(1) thereis (> x 5)))
;; --- always skips finally
(loop for x in '(1 2) always (evenp x) finally (princ "not reached"))
;; --- always runs finally
(loop for x in '(2 4) always (evenp x) finally (princ "reached"))
;; --- finally return
(loop for x in '(1 2 3) finally (return (list 'done x)))
;; --- initially and finally
(loop initially (princ "a") for x in '(1 2) do (princ x) finally (princ "z"))
;; --- named
(loop named outer for i from 1 do (loop for j from 1 do (when (= (* i j) 12) (return-from outer (list i j)))))
;; --- return clause
(loop for i from 1 when (> (* i i) 50) return i)
;; --- loop-finish
(loop for i from 1 do (when (> i 3) (loop-finish)) collect i)
;; --- do many
(loop for i below 2 do (princ i) (princ "-") (terpri))
;; --- destructuring in
(loop for (a b) in '((1 2) (3 4)) collect (+ a b))
;; --- destructuring dotted
(loop for (k . v) in '((a . 1) (b . 2)) collect k collect v)
;; --- destructuring nested with nil
(loop for (a nil (b . c)) in '((1 2 (3 4)) (5 6 (7 8))) collect (list a b c))
;; --- destructuring too short
(loop for (a b c) in '((1) (2 3)) collect (list a b c))
;; --- destructuring on plist
(loop for (k v) on '(:a 1 :b 2) by #'cddr collect (cons k v))
;; --- destructuring equals
(loop for (a b) = '(1 2) then (list b (+ a b)) repeat 4 collect a)
;; --- hash keys
(let ((h (make-hash-table))) (setf (gethash 'a h) 1 (gethash 'b h) 2) (sort (loop for k being the hash-keys of h collect (symbol-name k)) #'string<))
;; --- hash values using
(let ((h (make-hash-table))) (setf (gethash 1 h) 10 (gethash 2 h) 20) (sort (loop for v being each hash-value in h using (hash-key k) collect (+ k v)) #'<))
;; --- hash keys using value
(let ((h (make-hash-table :test 'equal))) (setf (gethash "x" h) 10) (loop for k being the hash-keys of h using (hash-value v) collect (list k v)))
;; --- hash table empty
(loop for k being the hash-keys of (make-hash-table) collect k)
;; --- of-type
(loop for i of-type fixnum from 1 to 3 sum i of-type fixnum)
;; --- of-type short
(loop for x fixnum in '(1 2) collect x)
;; --- loop keywords by keyword symbols
(loop :for i :from 1 :to 3 :collect i)
;; --- variable after loop ends
(loop for i from 1 to 3 finally (return i))
;; --- list variable after end
(loop for x in '(1 2) do (princ x) finally (return x))
;; --- across empty
(loop for x across "" collect x)
;; --- closures over variables share one binding
(mapcar #'funcall (loop for i from 1 to 3 collect (lambda () i)))
;; --- collect order of clauses
(loop for i from 1 to 2 collect i do (princ i) collect (- i))
;; --- until with for equals then
(loop for line = 3 then (1- line) until (zerop line) collect line)
;; --- return in do
(loop for i from 0 do (if (= i 7) (return i)))
;; --- multiple with and for
(loop with acc = '() for x in '(1 2 3) do (push x acc) finally (return acc))
;; --- nested loops
(loop for i from 1 to 3 collect (loop for j from 1 to i collect (* i j)))
;; --- sum floats
(loop for x in '(0.5 1.5) sum x)
;; --- maximize into
(loop for x in '(3 9 2) maximize x into m minimize x into n finally (return (- m n)))
;; --- when with return nil
(loop for x in '(1 2 3) when (= x 2) return nil)
;; --- thereis in middle with collect
(loop for x in '(1 2 3) collect x into seen thereis (and (= x 2) seen))
;; --- for x in non list
(loop for x in 5 collect x)
;; --- from symbol
(loop for i from 'a to 3 collect i)
;; --- sum of non number
(loop for x in '(1 b) sum x)
;; --- empty body
(let ((n 0)) (loop while (< n 5) do (incf n)) n)
;; --- while first
(let ((n 0)) (loop while (< n 3) collect (incf n)))
;; --- nconc into
(loop for x in '(1 2 3) nconc (list x (* 10 x)) into all finally (return (length all)))
;; --- for vector nil variable
(let ((n 0)) (loop for nil in '(1 2 3) do (incf n)) n)
;; --- count into with unless
(loop for x in '(a 1 b 2) unless (symbolp x) count t into n finally (return n))
;; --- as synonym
(loop as x in '(1 2) as y = (1+ x) collect y)
;; --- else if chain
(loop for i from 1 to 15 collect (cond ((zerop (mod i 15)) 'fizzbuzz) ((zerop (mod i 5)) 'buzz) ((zerop (mod i 3)) 'fizz) (t i)))
;; --- if else if
(loop for i from 1 to 6 if (= i 1) collect 'one else if (= i 2) collect 'two else collect i)
;; --- dotimes and dolist results
(list (dotimes (i 3 i)) (dotimes (i 0 'none)) (dolist (x '(1 2) x)) (let (r) (dolist (x '(1 2 3) r) (push x r))))
;; --- do and do star
(list (do ((i 0 (1+ i)) (j 10 (- j i))) ((= i 4) (list i j))) (do* ((i 0 (1+ i)) (j 10 (- j i))) ((= i 4) (list i j))))
;; --- do with return and tags
(do ((i 0 (1+ i))) (nil) (when (= i 3) (return i)))
;; --- index beside a list when it ends
(loop for x in '(a b) for i from 0 finally (return (list x i)))
;; --- list beside an index when it ends
(loop for i from 0 for x in '(a b) finally (return (list x i)))
;; --- two counters
(loop for i from 0 below 5 for j from 10 by 10 finally (return (list i j)))
;; --- repeat before for
(loop repeat 2 for i from 5 collect i finally (return i))
;; --- until before for
(let ((n 0)) (loop until (> n 2) do (incf n) collect n))
;; --- parallel with across and from
(loop for c across "abc" and i from 1 and x = 0 then (1+ x) collect (list c i x))
;; --- for equals uses the list variable
(loop for x in '(1 2 3) for prev = nil then cur for cur = x collect (list prev cur))
;; --- step evaluated once
(let ((n 0)) (loop for i from 0 to 6 by (progn (incf n) 2) collect (list i n)))
;; --- limit evaluated once
(let ((n 0)) (loop for i from 0 below (progn (incf n) 3) do (princ i)) n)
;; --- nested named loops and finally
(loop named a for i from 1 to 3 do (loop named b for j from 1 to 3 do (when (= j 2) (return-from b)) (princ (list i j))) finally (return-from a 'end))
;; --- with initialised from another with and used in finally
(loop with total = 0 and count = 0 for x in '(1 2 3) do (incf total x) (incf count) finally (return (/ total count)))
;; --- loop-finish inside a nested form
(loop for x in '(1 2 3 4) do (let ((y x)) (when (= y 3) (loop-finish))) sum x)
;; --- collect into visible while looping
(loop for x in '(1 2 3) collect x into seen do (princ seen))
;; --- destructuring against an atom
(loop for (a b) in '((1 2) 3) collect (list a b))
