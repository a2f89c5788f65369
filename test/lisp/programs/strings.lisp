;; --- case changes
(list (string-upcase "abc") (string-downcase "ABC") (string-capitalize "hello wORLD don't") (string-upcase 'sym) (string-upcase "abc" :start 1) (string-downcase "ABCD" :start 1 :end 3) (string-capitalize "abc-def ghi2jkl"))
;; --- destructive case changes
(let ((s (copy-seq "Hello"))) (list (nstring-upcase s) s (nstring-downcase s :start 1) s (nstring-capitalize s)))
;; --- case leaves the original
(let ((s "abc")) (string-upcase s) s)
;; --- trimming
(list (string-trim " " "  a b ") (string-left-trim " " "  a ") (string-right-trim " " " a  ") (string-trim '(#\a #\b) "abcab") (string-trim "x" "xxx") (string-trim " " 'sym))
;; --- equality
(list (string= "abc" "abc") (string= "abc" "abd") (string= 'abc "ABC") (string= #\a "a") (string-equal "abc" "ABC") (string= "xabc" "abc" :start1 1) (string= "abcd" "abcx" :end1 3 :end2 3))
;; --- ordering
(list (string< "abc" "abd") (string< "abc" "abc") (string< "ab" "abc") (string> "b" "a") (string<= "a" "a") (string>= "a" "b") (string/= "abc" "abd") (string/= "a" "a") (string< "" "a"))
;; --- ordering without case
(list (string-lessp "ABC" "abd") (string-greaterp "b" "A") (string-not-lessp "a" "A") (string-not-greaterp "a" "B") (string-not-equal "a" "A") (string-not-equal "a" "b"))
;; --- ordering with bounds
(list (string< "xxabc" "abd" :start1 2) (string< "abc" "zzabd" :start2 2) (string> "abc" "abc" :end2 2))
;; --- string of things
(list (string "a") (string 'foo) (string #\c) (string nil) (string :key))
;; --- string of a number
(string 5)
;; --- char and schar
(list (char "abc" 1) (schar "abc" 0) (aref "abc" 2))
;; --- char beyond the end
(char "abc" 3)
;; --- char of a symbol
(char 'abc 0)
;; --- setf char
(let ((s (copy-seq "abc"))) (setf (char s 1) #\X (aref s 2) #\Y) s)
;; --- make-string
(list (make-string 3 :initial-element #\x) (length (make-string 5)) (make-string 0))
;; --- parse-integer
(list (multiple-value-list (parse-integer "42")) (multiple-value-list (parse-integer " -17 ")) (multiple-value-list (parse-integer "ff" :radix 16)) (multiple-value-list (parse-integer "12abc" :junk-allowed t)) (multiple-value-list (parse-integer "abc" :junk-allowed t)) (multiple-value-list (parse-integer "x12y" :start 1 :end 3)) (parse-integer "+5"))
;; --- parse-integer of junk
(parse-integer "12a")
;; --- parse-integer of nothing
(parse-integer "")
;; --- parse-integer of a big number
(parse-integer "123456789012345678901234567890")
;; --- strings as sequences
(list (reverse "abc") (remove #\a "banana") (position #\n "banana") (count #\a "banana") (subseq "hello" 1 3) (concatenate 'string "a" "b") (sort (copy-seq "hello") #'char<) (find #\l "hello"))
;; --- mapping over strings
(list (map 'string #'char-upcase "abc") (map 'list #'char-code "AB") (every #'alpha-char-p "abc") (some #'digit-char-p "ab1") (coerce '(#\a #\b) 'string) (coerce "ab" 'list))
;; --- search in strings
(list (search "an" "banana") (search "an" "banana" :from-end t) (search "x" "banana") (mismatch "abc" "abd"))
;; --- equality of strings
(list (eq "a" "a") (eql "a" "a") (equal "a" "a") (equal "a" "A") (equalp "a" "A"))
;; --- fill pointer string
(let ((s (make-array 5 :element-type 'character :fill-pointer 0 :adjustable t))) (vector-push #\a s) (vector-push-extend #\b s) (list s (length s) (string-upcase s) (equal s "ab")))
;; --- with-output-to-string into a string
(let ((s (make-array 0 :element-type 'character :fill-pointer 0 :adjustable t))) (with-output-to-string (o s) (format o "x=~a" 5)) s)
;; --- strings with special characters
(list "a\"b" "a\\b" (length "a\\b") (char "\"" 0))
;; --- splitting by hand
(let ((s "a,b,,c")) (loop with start = 0 for p = (position #\, s :start start) collect (subseq s start p) while p do (setf start (1+ p))))
;; --- joining by format
(format nil "~{~a~^, ~}" '("x" "y" "z"))
;; --- palindrome
(flet ((p (s) (let ((c (remove-if-not #'alpha-char-p (string-downcase s)))) (string= c (reverse c))))) (list (p "A man, a plan, a canal: Panama") (p "no")))
;; --- caesar
(map 'string (lambda (c) (if (alpha-char-p c) (code-char (+ 97 (mod (+ 3 (- (char-code c) 97)) 26))) c)) "hello xyz")
;; --- replace in a string
(substitute #\_ #\space "a b c")
;; --- string comparisons with symbols
(list (string< 'a 'b) (string= :foo "FOO") (string-equal 'foo "foo"))
;; --- strings are arrays
(list (stringp "a") (vectorp "a") (arrayp "a") (simple-string-p "a") (array-dimensions "abc") (array-rank "abc") (array-total-size "ab"))
;; --- string as a list of characters
(loop for c across "abc" collect (char-code c))
;; --- upcase of a number
(string-upcase 5)
;; --- unicode length
(list (length "äöü") (char-code (char "ä" 0)) (string-upcase "äöü") (reverse "äb"))
