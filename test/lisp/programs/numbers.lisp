;; --- addition of all types
(list (+) (+ 1) (+ 1 2 3) (+ 1/2 1/3) (+ 1/2 0.5) (+ 1 2.5) (+ 1/2 1/2) (+ 9007199254740991 1) (+ 4611686018427387903 1))
;; --- subtraction
(list (- 5) (- 5 3) (- 1/2 1/3) (- 1.5 1/2) (- -9007199254740991 10) (- 0) (- 10 1 2 3))
;; --- multiplication
(list (*) (* 2 3) (* 1/2 4) (* 0.5 4) (* 0 -5) (* 123456789 987654321 123456789) (* 1/3 3))
;; --- division
(list (/ 6 3) (/ 6 4) (/ -6 4) (/ 6 -4) (/ 2) (/ 1/2) (/ 1.0 4) (/ 0.5) (/ 12 2 3) (/ 0 5))
;; --- division by zero
(/ 5 0)
;; --- float division by zero
(/ 5.0 0)
;; --- mod by zero
(mod 5 0)
;; --- wrong argument of plus
(+ 1 'a)
;; --- wrong argument of less
(< 1 "a")
;; --- one plus and minus
(list (1+ 1) (1- 1) (1+ 1/2) (1- 0.5) (1+ 9007199254740991))
;; --- big arithmetic
(list (expt 2 100) (* (expt 2 60) (expt 2 60)) (- (expt 10 30) 1) (+ (expt 10 20) (- (expt 10 20))))
;; --- factorial
(labels ((f (n) (if (zerop n) 1 (* n (f (1- n)))))) (f 30))
;; --- comparison chains
(list (< 1 2 3) (< 1 3 2) (<= 1 1 2) (> 3 2 1) (>= 3 3 1) (= 1 1 1) (= 1 1.0) (/= 1 2 3) (/= 1 2 1))
;; --- exact comparison
(list (= 1/3 0.3333333333333333) (< 1/3 0.3333333333333333) (> 1/3 0.3333333333333333) (= 0.5 1/2) (< 9007199254740993 9007199254740992.0))
;; --- floor of integers
(multiple-value-list (floor -7 2))
;; --- floor family signs
(list (multiple-value-list (floor 7 -2)) (multiple-value-list (ceiling 7 -2)) (multiple-value-list (truncate 7 -2)) (multiple-value-list (round 7 -2)))
;; --- floor family negative
(list (multiple-value-list (floor -7 2)) (multiple-value-list (ceiling -7 2)) (multiple-value-list (truncate -7 2)) (multiple-value-list (round -7 2)))
;; --- floor of floats
(list (multiple-value-list (floor 7.5)) (multiple-value-list (floor -7.5)) (multiple-value-list (floor 7.5 2)) (multiple-value-list (ceiling 7.25 0.5)))
;; --- floor of ratios
(list (multiple-value-list (floor 7/2)) (multiple-value-list (round 7/2)) (multiple-value-list (truncate -7/3)) (multiple-value-list (ceiling 5/3 1/2)))
;; --- round to even
(mapcar #'round '(0.5 1.5 2.5 -0.5 -1.5 5/2 7/2 -5/2))
;; --- round to even with divisor
(list (multiple-value-list (round 5 2)) (multiple-value-list (round 15 10)) (multiple-value-list (round 25 10)) (multiple-value-list (round -15 10)))
;; --- float quotients
(list (multiple-value-list (ffloor 7.5)) (multiple-value-list (fround 2.5)) (multiple-value-list (ftruncate -7.5)) (multiple-value-list (fceiling 7.2)))
;; --- truncate big
(list (multiple-value-list (truncate (expt 10 25) 7)) (multiple-value-list (floor (- (expt 10 25)) 7)))
;; --- mod and rem
(list (mod 7 3) (mod -7 3) (mod 7 -3) (rem -7 3) (rem 7 -3) (mod 7.5 2) (mod -7.5 2) (mod 5/3 1/2) (rem -5/3 1/2))
;; --- floor by zero
(floor 1 0)
;; --- floor of a symbol
(floor 'a)
;; --- floor of a huge float
(floor 1e20)
;; --- expt exact
(list (expt 2 10) (expt 2 -2) (expt 2/3 3) (expt 2/3 -3) (expt 0 0) (expt 0 5) (expt -2 3) (expt -1 101) (expt 1 1000000))
;; --- expt floats
(list (expt 2.0 3) (expt 2 0.5) (expt 2.0 -1) (expt 0.0 2) (expt 1.1 10) (expt 4.0 1/2) (expt 0.5 0))
;; --- expt of zero
(expt 0 -1)
;; --- exp and log
(list (exp 0.0) (exp 1.0) (log 1.0) (log 8.0 2) (log 100.0 10) (log 1024.0 2))
;; --- log of zero
(log 0.0)
;; --- sqrt of floats
(list (sqrt 4.0) (sqrt 2.0) (sqrt 0.25) (sqrt 0.0))
;; --- isqrt
(list (isqrt 0) (isqrt 15) (isqrt 16) (isqrt 17) (isqrt (expt 10 40)) (isqrt (1- (expt 10 40))))
;; --- isqrt negative
(isqrt -1)
;; --- gcd and lcm
(list (gcd) (gcd 12) (gcd 12 18) (gcd -12 18 27) (gcd 0 5) (lcm) (lcm 4 6) (lcm -4 6) (lcm 0 5) (lcm 2 3 5))
;; --- gcd of floats
(gcd 1.5 2)
;; --- abs and signum
(list (abs -5) (abs -1/2) (abs -1.5) (abs 0) (signum -3) (signum 0) (signum 2.5) (signum -1/2) (signum -0.5))
;; --- max and min
(list (max 1) (max 1 3 2) (min 1 3 2) (max 1 2.0) (max 2 1.0) (min 1 1.0) (max 1/2 1/3))
;; --- max of wrong type
(max 1 'a)
;; --- numerator and denominator
(list (numerator 6/4) (denominator 6/4) (numerator 5) (denominator 5) (numerator -1/3))
;; --- numerator of a float
(numerator 1.5)
;; --- rational
(list (rational 0.5) (rational 0.1) (rational 3) (rational -1.25))
;; --- rationalize
(list (rationalize 0.1) (rationalize 0.5) (rationalize 3) (rationalize 1.25) (rationalize 0.333)
      (rationalize -2.5) (rationalize 123456789012345678901234.0) (rationalize 1e300))
;; --- float-sign and signum
(list (float-sign -0.0) (float-sign -2.0 3.0) (float-sign 2.5) (signum -3.5) (signum 0.0) (signum -2/3)
      (signum 7))
;; --- lcm
(list (lcm) (lcm 4) (lcm -4 6) (lcm 0 5) (lcm 12 18 27) (lcm 123456789012345678901 7))
;; --- float conversion
(list (float 1 1.0) (float 1/4 1.0) (float 2.5) (coerce 1/8 'double-float) (coerce 3 'double-float))
;; --- float parts
(list (multiple-value-list (decode-float 1.5)) (multiple-value-list (integer-decode-float 1.5)) (scale-float 1.5 3) (float-digits 1.0) (float-radix 1.0) (float-precision 1.0) (float-sign -2.0) (float-sign -1.0 3.0))
;; --- predicates
(list (zerop 0) (zerop 0.0) (plusp 1) (plusp -1) (minusp -1/2) (evenp 4) (oddp 4) (evenp (expt 2 80)) (oddp -3))
;; --- evenp of a float
(evenp 2.0)
;; --- type predicates
(list (integerp 1) (integerp 1.0) (rationalp 1/2) (rationalp 0.5) (floatp 1.0) (floatp 1) (realp 1/2) (numberp 'a) (complexp 1))
;; --- eql and numbers
(list (eql 1 1.0) (eql 1.0 1.0) (eql 0.0 -0.0) (= 0.0 -0.0) (eql 1/2 1/2) (equalp 1 1.0) (eql (expt 2 70) (expt 2 70)))
;; --- trigonometry exact points
(list (sin 0.0) (cos 0.0) (tan 0.0) (atan 0.0) (atan 1.0 1.0) (asin 0.0) (acos 1.0))
;; --- hyperbolic exact points
(list (sinh 0.0) (cosh 0.0) (tanh 0.0) (asinh 0.0))
;; --- pi
pi
;; --- float overflow
(* 1e300 1e300)
;; --- exp overflow
(exp 1000.0)
;; --- float printing
(list 1.0 0.1 100.0 1234567.0 12345678.0 0.001 0.0001 1e21 1.5e-10 -0.0 123.456 1e7 1e6)
;; --- float sums
(list (+ 0.1 0.2) (* 1.1 1.1) (- 0.3 0.1) (/ 1.0 3) (/ 2.0 3))
;; --- most positive fixnum arithmetic
(list (+ most-positive-fixnum 1) (- most-negative-fixnum 1) (* most-positive-fixnum 2))
;; --- ratio arithmetic normalises
(list (* 2/3 3/2) (+ 1/6 1/3) (- 1/2 1/2) (/ 4/6 2/3))
;; --- number to float contagion
(list (+ 1/3 1.0) (* 2 0.5) (- 1/2 0.25) (= 2 4/2))
;; --- incf and decf
(let ((x 5)) (incf x) (incf x 1/2) (decf x 0.5) x)
;; --- string of digits to sum
(reduce #'+ (map 'list #'digit-char-p "123456789"))
;; --- collatz
(loop for n = 27 then (if (evenp n) (/ n 2) (1+ (* 3 n))) until (= n 1) count t)
;; --- fibonacci big
(let ((a 0) (b 1)) (dotimes (i 150 a) (psetf a b b (+ a b))))
;; --- primes
(loop for n from 2 to 50 when (loop for d from 2 to (isqrt n) never (zerop (mod n d))) collect n)
;; --- random stays in range
(loop repeat 100 always (< -1 (random 10) 10))
;; --- random float stays in range
(loop repeat 100 always (<= 0.0 (random 1.0) 1.0))
;; --- random of zero
(random 0)
;; --- random of a symbol
(random 'a)
;; --- copied random states agree
(let* ((a (make-random-state nil)) (b (make-random-state a))) (equal (loop repeat 5 collect (random 1000 a)) (loop repeat 5 collect (random 1000 b))))
;; --- digits of a big power
(reduce #'+ (map 'list #'digit-char-p (princ-to-string (expt 2 1000))))
;; --- realpart and imagpart
(list (realpart 5) (imagpart 5) (conjugate 2.5))
