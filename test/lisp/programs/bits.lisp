;; --- logand
(list (logand) (logand 12 10) (logand -1 255) (logand (expt 2 70) (1- (expt 2 71))))
;; --- logior and logxor
(list (logior) (logior 12 10) (logxor 12 10) (logxor) (logior -8 3) (logxor (expt 2 70) 1))
;; --- lognot
(list (lognot 0) (lognot 5) (lognot -1) (lognot (expt 2 65)))
;; --- other logical functions
(list (logeqv 5 3) (lognand 5 3) (lognor 5 3) (logandc1 5 3) (logandc2 5 3) (logorc1 5 3) (logorc2 5 3))
;; --- logand of a float
(logand 1.0 2)
;; --- ash
(list (ash 1 10) (ash 1 100) (ash 1024 -3) (ash -5 -1) (ash -1 -100) (ash 0 1000) (ash 5 0))
;; --- integer-length
(mapcar #'integer-length (list 0 1 -1 7 8 -8 -9 (expt 2 64)))
;; --- logcount
(mapcar #'logcount (list 0 1 7 -1 -2 255 (1- (expt 2 70))))
;; --- logbitp and logtest
(list (logbitp 0 1) (logbitp 1 1) (logbitp 100 -1) (logtest 5 2) (logtest 5 4))
;; --- ldb
(list (ldb (byte 4 0) 255) (ldb (byte 4 4) 165) (ldb (byte 8 64) (ash 200 64)) (ldb (byte 0 3) 255) (ldb (byte 3 0) -1))
;; --- dpb
(list (dpb 3 (byte 2 1) 0) (dpb 0 (byte 4 0) 255) (dpb 1 (byte 1 70) 0) (dpb -1 (byte 3 2) 0))
;; --- setf ldb
(let ((x 0)) (setf (ldb (byte 4 4) x) 9) x)
;; --- byte parts
(list (byte-size (byte 3 5)) (byte-position (byte 3 5)))
;; --- mask and deposit
(list (mask-field (byte 2 1) 7) (deposit-field 6 (byte 2 1) 0) (ldb-test (byte 1 1) 2) (ldb-test (byte 1 1) 5))
;; --- boole
(list (boole boole-and 12 10) (boole boole-xor 12 10) (boole boole-c1 5 0) (boole boole-set 1 2))
;; --- popcount loop
(loop for x = 202 then (logand x (1- x)) until (zerop x) count t)
;; --- gray code
(loop for i below 8 collect (logxor i (ash i -1)))
;; --- bit vectors
(list (bit-and #*1100 #*1010) (bit-ior #*1100 #*1010) (bit-xor #*1100 #*1010) (bit-not #*1100) (bit-eqv #*1100 #*1010))
;; --- bit of a bit vector
(let ((v (make-array 4 :element-type 'bit :initial-element 0))) (setf (bit v 2) 1) (list v (bit v 2) (sbit v 0) (count 1 v)))
;; --- bit vector takes only bits
(setf (aref (make-array 2 :element-type 'bit) 0) 2)
;; --- all operations of boole
(loop for op in (list boole-clr boole-set boole-1 boole-2 boole-c1 boole-c2 boole-and boole-ior boole-xor boole-eqv boole-nand boole-nor boole-andc1 boole-andc2 boole-orc1 boole-orc2) collect (boole op 12 10))
