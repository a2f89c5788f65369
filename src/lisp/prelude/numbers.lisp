;;; Numbers in words and in Roman numerals, quotients as floats, signs, fractions, and the parts of numbers that are
;;; not complex.

(defun %cardinal (number)
  (cond ((zerop number) "zero")
        ((minusp number) (format nil "negative ~a" (%cardinal (- number))))
        ((>= number (expt 1000 22)) (error "~d is too large to be written in English" number))
        (t (let ((words nil) (rest number) (here 0))
             (dolist (period '(nil "thousand" "million" "billion" "trillion" "quadrillion"
                               "quintillion" "sextillion" "septillion" "octillion" "nonillion"
                               "decillion" "undecillion" "duodecillion" "tredecillion"
                               "quattuordecillion" "quindecillion" "sexdecillion"
                               "septendecillion" "octodecillion" "novemdecillion" "vigintillion")
                             (format nil "~{~a~^ ~}" words))
               (multiple-value-setq (rest here) (floor rest 1000))
               (when (plusp here)
                 (setq words (append (%below-thousand here) (and period (list period)) words))))))))

(defun %below-thousand (number)
  (multiple-value-bind (hundreds rest) (floor number 100)
    (append (and (plusp hundreds) (list (%below-hundred hundreds) "hundred"))
            (and (plusp rest) (list (%below-hundred rest))))))

(defun %below-hundred (number)
  (let ((small '("zero" "one" "two" "three" "four" "five" "six" "seven" "eight" "nine" "ten"
                 "eleven" "twelve" "thirteen" "fourteen" "fifteen" "sixteen" "seventeen"
                 "eighteen" "nineteen"))
        (tens '("twenty" "thirty" "forty" "fifty" "sixty" "seventy" "eighty" "ninety")))
    (if (< number 20)
        (nth number small)
        (multiple-value-bind (ten one) (floor number 10)
          (format nil "~a~:[-~a~;~]" (nth (- ten 2) tens) (zerop one) (nth one small))))))

(defun %ordinal (number)
  (let* ((text (%cardinal number))
         (before (position-if (lambda (character) (find character " -")) text :from-end t))
         (cut (if before (1+ before) 0))
         (word (subseq text cut))
         (irregular (assoc word '(("one" . "first") ("two" . "second") ("three" . "third")
                                  ("five" . "fifth") ("eight" . "eighth") ("nine" . "ninth")
                                  ("twelve" . "twelfth"))
                           :test #'string=))
         (stem (string-right-trim "y" word)))
    (format nil "~a~a" (subseq text 0 cut)
            (cond (irregular (cdr irregular))
                  ((string= stem word) (format nil "~ath" word))
                  (t (format nil "~aieth" stem))))))

(defun %roman (number old)
  (let ((limit (if old 5000 4000)))
    (unless (< 0 number limit)
      (error "~d cannot be written in Roman numerals; they go from 1 to ~d" number (1- limit))))
  (with-output-to-string (text)
    (loop for (letters worth) in '(("M" 1000) ("CM" 900) ("D" 500) ("CD" 400) ("C" 100) ("XC" 90)
                                   ("L" 50) ("XL" 40) ("X" 10) ("IX" 9) ("V" 5) ("IV" 4) ("I" 1))
          unless (and old (> (length letters) 1))
            do (loop while (>= number worth)
                     do (write-string letters text)
                        (decf number worth)))))

(defun %float-quotient (divide number divisor)
  (multiple-value-bind (quotient remainder) (funcall divide number divisor)
    (let ((ratio (/ number divisor)))
      (values (if (and (zerop quotient) (floatp ratio))
                  (float-sign ratio 0.0)
                  (float quotient))
              remainder))))

(defun ffloor (number &optional (divisor 1))
  (%float-quotient #'floor number divisor))

(defun fceiling (number &optional (divisor 1))
  (%float-quotient #'ceiling number divisor))

(defun ftruncate (number &optional (divisor 1))
  (%float-quotient #'truncate number divisor))

(defun fround (number &optional (divisor 1))
  (%float-quotient #'round number divisor))

;; All numbers here are real, and real numbers are complex numbers, too.

(defun realpart (number)
  (check-type number number)
  number)

(defun conjugate (number)
  (check-type number number)
  number)

(defun imagpart (number)
  (check-type number number)
  (if (floatp number) 0.0 0))

(defun phase (number)
  (check-type number number)
  (if (minusp number) pi 0.0))

;; The parts of floats.

(defun decode-float (float)
  (multiple-value-bind (mantissa exponent sign) (integer-decode-float float)
    (let ((length (integer-length mantissa)))
      (if (zerop mantissa)
          (values 0.0 -1074 (float sign))
          (values (/ (float mantissa) (expt 2.0 length)) (+ exponent length) (float sign))))))

(defun scale-float (float integer)
  (check-type float float)
  (check-type integer integer)
  (let ((half (truncate integer 2)))
    (* float (expt 2.0 half) (expt 2.0 (- integer half)))))

(defun float-precision (float)
  (integer-length (values (integer-decode-float float))))

(defun float-digits (float)
  (check-type float float)
  53)

(defun float-radix (float)
  (check-type float float)
  2)

(defun signum (number)
  (cond ((zerop number) number)
        ((floatp number) (float-sign number))
        ((plusp number) 1)
        (t -1)))

(defun float-sign (float &optional (other 1.0))
  (check-type other float)
  ;; Also true of the negative zero.
  (if (minusp (nth-value 2 (integer-decode-float float))) (- (abs other)) (abs other)))

(defun lcm (&rest integers)
  (reduce (lambda (a b)
            (let ((common (gcd a b)))
              (if (zerop common) 0 (abs (* (/ a common) b)))))
          integers :initial-value 1))

;; The simplest fraction that reads back as the same float: its first convergent that is equal to it.
(defun rationalize (number)
  (let ((exact (rational number)) (p0 0) (q0 1) (p1 1) (q1 0))
    (cond ((or (rationalp number) (zerop exact)) exact)
          ((minusp exact) (- (rationalize (- number))))
          (t (loop
               (multiple-value-bind (whole rest) (floor exact)
                 (psetq p0 p1 p1 (+ (* whole p1) p0))
                 (psetq q0 q1 q1 (+ (* whole q1) q0))
                 (when (= (float (/ p1 q1)) number) (return (/ p1 q1)))
                 (setq exact (/ rest))))))))
