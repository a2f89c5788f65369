;; --- with-output-to-string
(with-output-to-string (s) (princ 1 s) (prin1 "a" s) (write-char #\b s) (write-string "cd" s) (terpri s) (format s "~a" 2))
;; --- bound standard output
(with-output-to-string (*standard-output*) (princ "x") (format t "~a" 1))
;; --- string output streams
(let ((s (make-string-output-stream))) (write-string "abc" s) (list (get-output-stream-string s) (get-output-stream-string s) (progn (princ 1 s) (get-output-stream-string s))))
;; --- with-input-from-string
(with-input-from-string (s "1 (2 3) foo") (list (read s) (read s) (read s) (read s nil :eof)))
;; --- read-line
(with-input-from-string (s (format nil "one~%two~%~%four")) (list (multiple-value-list (read-line s)) (read-line s) (read-line s) (multiple-value-list (read-line s)) (read-line s nil 'end)))
;; --- read-line at the end
(with-input-from-string (s "") (read-line s))
;; --- read-char and friends
(with-input-from-string (s "ab c") (list (read-char s) (peek-char nil s) (read-char s) (peek-char t s) (read-char s) (read-char s nil :eof)))
;; --- unread-char
(with-input-from-string (s "ab") (let ((c (read-char s))) (unread-char c s) (list (read-char s) (read-char s))))
;; --- read-char at the end
(with-input-from-string (s "") (read-char s))
;; --- read-from-string
(list (read-from-string "(1 2)") (multiple-value-list (read-from-string "foo bar")) (multiple-value-list (read-from-string "foo bar" t nil :start 4)) (read-from-string "" nil :none) (multiple-value-list (read-from-string "(a) b")))
;; --- read-from-string of nothing
(read-from-string "")
;; --- read-from-string of an open list
(read-from-string "(1 2")
;; --- read-from-string of a closing parenthesis
(read-from-string ")")
;; --- reading numbers
(mapcar #'read-from-string '("1" "-5" "1/2" "1.5" "1e3" "#xff" "#b101" "#o17" "+7" "1." "#3r12" "-1/3" ".5"))
;; --- reading other things
(mapcar #'read-from-string '("\"a\"" "#\\a" ":k" "'x" "#'f" "#(1 2)" "|a b|" "(1 . 2)" "nil" "#:g"))
;; --- read is case blind
(list (eq (read-from-string "foo") 'foo) (read-from-string "FoO") (read-from-string "|foo|") (read-from-string "f\\oo"))
;; --- write-string with bounds
(progn (write-string "hello" *standard-output* :start 1 :end 3) (write-line "x") (write-line "abc" *standard-output* :start 1))
;; --- streams and their kinds
(let ((o (make-string-output-stream)) (i (make-string-input-stream "x"))) (list (streamp o) (streamp 1) (output-stream-p o) (input-stream-p i) (input-stream-p o) (output-stream-p i) (open-stream-p o)))
;; --- princ to no stream
(princ 1 5)
;; --- make-string-input-stream with bounds
(let ((s (make-string-input-stream "abcdef" 2 4))) (list (read-char s) (read-char s) (read-char s nil nil)))
;; --- with-input-from-string keywords
(let (i) (list (with-input-from-string (s "abc def" :start 4 :index i) (read s)) i))
;; --- broadcast streams
(let* ((a (make-string-output-stream)) (b (make-string-output-stream)) (s (make-broadcast-stream a b))) (princ "x" s) (list (get-output-stream-string a) (get-output-stream-string b)))
;; --- reading all forms
(with-input-from-string (s "a (b c) 42 \"d\"") (loop for f = (read s nil s) until (eq f s) collect f))
;; --- evaluating what was read
(eval (read-from-string "(+ 1 2)"))
;; --- output and values
(progn (princ "out") (values 1 2))
;; --- print to a string round trip
(let ((x '(1 "a\"b" #\c (d . e) 1/2 1.5 :k))) (equal x (read-from-string (prin1-to-string x))))
;; --- lines counted
(with-input-from-string (s (format nil "a~%b~%c~%")) (loop for line = (read-line s nil) while line count t))
;; --- listen and clear
(with-input-from-string (s "a") (list (listen s) (read-char s) (listen s)))
;; --- finish-output
(list (finish-output) (force-output))
;; --- write-sequence and read-sequence
(let ((v (make-string 5 :initial-element #\-))) (write-sequence "hello" *standard-output* :start 1 :end 3) (with-input-from-string (s "abc") (list (read-sequence v s :start 1) v (read-sequence v s) (write-sequence '(#\x #\y) *standard-output*))))
;; --- concatenated streams
(let ((s (make-concatenated-stream (make-string-input-stream "ab ") (make-string-input-stream "cd")))) (list (read s) (read s) (read s nil :end)))
;; --- two way streams
(let* ((o (make-string-output-stream)) (s (make-two-way-stream (make-string-input-stream "x y") o))) (princ 1 s) (list (read s) (get-output-stream-string o)))
;; --- synonym streams
(let ((s (make-synonym-stream '*standard-output*))) (princ "through" s) (with-output-to-string (*standard-output*) (princ "inner" s)))
;; --- standard io syntax
(let ((*print-base* 2) (*print-length* 1)) (list (with-standard-io-syntax (prin1-to-string '(1 2 10))) (prin1-to-string 5)))
;; --- echo streams
(let* ((o (make-string-output-stream)) (s (make-echo-stream (make-string-input-stream "abc") o))) (list (read-char s) (read-char s) (get-output-stream-string o)))
;; --- parts of composite streams
(let* ((i (make-string-input-stream "x")) (o (make-string-output-stream)) (s (make-two-way-stream i o))) (list (eq (two-way-stream-input-stream s) i) (eq (two-way-stream-output-stream s) o) (typep s 'two-way-stream) (length (broadcast-stream-streams (make-broadcast-stream o o))) (synonym-stream-symbol (make-synonym-stream '*standard-output*)) (concatenated-stream-streams (make-concatenated-stream))))
;; --- concatenated streams share their parts
(let* ((a (make-string-input-stream "ab")) (b (make-string-input-stream "cd")) (s (make-concatenated-stream a b))) (list (read-char s) (read-char a) (read-char s) (read-line s nil)))
;; --- the stream of a reader error
(handler-case (read-from-string "(a") (stream-error (c) (typep (stream-error-stream c) 'stream)))
;; --- read-delimited-list
(with-input-from-string (s "1 (2 3) x) rest") (list (read-delimited-list #\) s) (read s)))
;; --- a closed stream
(let ((s (make-string-input-stream "abc"))) (close s) (handler-case (read-char s) (stream-error () :closed)))
;; --- the case of a readtable
(let ((*readtable* (copy-readtable nil))) (flet ((try (case) (setf (readtable-case *readtable*) case) (list (symbol-name (read-from-string "Ab")) (princ-to-string (intern "Cd")) (prin1-to-string (intern "EF"))))) (prog1 (list (try :preserve) (try :invert) (try :downcase) (try :upcase)) (setf (readtable-case *readtable*) :upcase))))
;; --- suppressed reading
(let ((*read-suppress* t)) (list (read-from-string "(a b unknown:c #1=(x))") (read-from-string "#:foo") (read-from-string "12x#")))
;; --- classes of streams
(list (typep (make-string-input-stream "") 'string-stream) (typep (make-broadcast-stream) 'broadcast-stream) (typep (make-concatenated-stream) 'string-stream) (typep (make-two-way-stream *standard-input* *standard-output*) 'two-way-stream) (subtypep 'echo-stream 'stream) (subtypep 'synonym-stream 'string-stream))
;; --- with-open-stream and declarations
(with-open-stream (s (make-string-input-stream "ab")) (declare (ignorable s)) (read-char s))
