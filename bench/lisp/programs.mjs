/**
 * The programs on which the Lisps are timed. `lisp` runs in ours, SBCL, JSCL and, unless `plain`
 * has simpler forms, in the naive walker; `scheme` is the same in Scheme. Those with `onlySbcl` use
 * parts of the language that the others do not have. `size` is what SBCL and the naive walker get,
 * `smallSize` what the interpreters from npm can handle; it replaces `SIZE` in a program. `atMost`
 * is the goal for ours ÷ SBCL where it is not that of its kind.
 */
export const programs = [
  {
    name: "fib",
    size: 27,
    smallSize: 17,
    define: "(defun fib (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))",
    lisp: "(fib SIZE)",
    defineScheme: "(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))",
    scheme: "(fib SIZE)",
    answer: (n) => {
      let [a, b] = [0, 1];
      for (let i = 0; i < n; i++) [a, b] = [b, a + b];
      return a;
    },
  },
  {
    name: "tak",
    size: 6,
    smallSize: 3,
    define:
      "(defun tak (x y z) (if (not (< y x)) z (tak (tak (- x 1) y z) (tak (- y 1) z x) (tak (- z 1) x y))))",
    lisp: "(tak (* 3 SIZE) (* 2 SIZE) SIZE)",
    defineScheme:
      "(define (tak x y z) (if (not (< y x)) z (tak (tak (- x 1) y z) (tak (- y 1) z x) (tak (- z 1) x y))))",
    scheme: "(tak (* 3 SIZE) (* 2 SIZE) SIZE)",
    answer: (n) => tak(3 * n, 2 * n, n),
  },
  {
    name: "nqueens",
    atMost: 8,
    size: 8,
    smallSize: 5,
    define: `(defun safe (q qs d) (if (null qs) t (if (= q (car qs)) nil (if (= (abs (- q (car qs))) d) nil (safe q (cdr qs) (+ d 1))))))
(defun try-column (k q n qs) (if (= q n) 0 (+ (if (safe q qs 1) (place (+ k 1) n (cons q qs)) 0) (try-column k (+ q 1) n qs))))
(defun place (k n qs) (if (= k n) 1 (try-column k 0 n qs)))`,
    lisp: "(place 0 SIZE nil)",
    defineScheme: `(define (safe q qs d) (if (null? qs) #t (if (= q (car qs)) #f (if (= (abs (- q (car qs))) d) #f (safe q (cdr qs) (+ d 1))))))
(define (try-column k q n qs) (if (= q n) 0 (+ (if (safe q qs 1) (place (+ k 1) n (cons q qs)) 0) (try-column k (+ q 1) n qs))))
(define (place k n qs) (if (= k n) 1 (try-column k 0 n qs)))`,
    scheme: "(place 0 SIZE '())",
    answer: (n) => ({ 5: 10, 8: 92 })[n],
  },
  {
    name: "strings",
    size: 40_000,
    smallSize: 1_000,
    define:
      '(defun build (n) (let ((s (make-string-output-stream))) (dotimes (i n) (write-string "item " s) (princ i s)) (length (get-output-stream-string s))))',
    lisp: "(build SIZE)",
    defineScheme:
      '(define (build n) (let loop ((i 0) (s "")) (if (= i n) (string-length s) (loop (+ i 1) (string-append s "item " (number->string i))))))',
    scheme: "(build SIZE)",
    answer: (n) => Array.from({ length: n }, (_, i) => `item ${i}`).join("").length,
  },
  {
    name: "tables",
    size: 200_000,
    smallSize: 2_000,
    define: `(defun tally (n) (let ((table (make-hash-table)) (total 0))
  (dotimes (i n) (setf (gethash (mod (* i 7) 1009) table) (+ 1 (gethash (mod (* i 7) 1009) table 0))))
  (dotimes (i 1009) (setq total (+ total (* i (gethash i table 0)))))
  total))`,
    lisp: "(tally SIZE)",
    defineScheme: `(define (tally n) (let ((table (make-eqv-hashtable)))
  (let fill ((i 0)) (if (< i n) (begin (hashtable-set! table (modulo (* i 7) 1009) (+ 1 (hashtable-ref table (modulo (* i 7) 1009) 0))) (fill (+ i 1)))))
  (let loop ((i 0) (total 0)) (if (= i 1009) total (loop (+ i 1) (+ total (* i (hashtable-ref table i 0))))))))`,
    scheme: "(tally SIZE)",
    answer: (n) => {
      let total = 0;
      for (let i = 0; i < n; i++) total += (i * 7) % 1009;
      return total;
    },
  },
  {
    name: "sums",
    size: 1_000_000,
    smallSize: 20_000,
    define: "(defun sums (n) (loop for i from 1 to n sum (* i 2)))",
    lisp: "(sums SIZE)",
    definePlain: "(defun sums (n) (let ((s 0)) (dotimes (i n) (setq s (+ s (* (+ i 1) 2)))) s))",
    defineScheme:
      "(define (sums n) (let loop ((i 1) (s 0)) (if (> i n) s (loop (+ i 1) (+ s (* i 2))))))",
    scheme: "(sums SIZE)",
    answer: (n) => n * (n + 1),
  },
  {
    name: "mapcar and reduce",
    onlySbcl: true,
    size: 100_000,
    define: `(defvar *numbers* (loop for i below 100000 collect i))
(defun chain (list) (reduce #'+ (remove-if (lambda (x) (= 0 (mod x 3))) (mapcar (lambda (x) (* x 2)) list))))`,
    lisp: "(chain *numbers*)",
    answer: (n) => {
      let total = 0;
      for (let i = 0; i < n; i++) if ((i * 2) % 3 !== 0) total += i * 2;
      return total;
    },
  },
  {
    name: "generic calls",
    onlySbcl: true,
    size: 75_000,
    define: `(defclass circle () ((radius :initarg :radius :reader radius)))
(defclass square () ((side :initarg :side :reader side)))
(defgeneric area (shape))
(defmethod area ((shape circle)) (* 3 (radius shape)))
(defmethod area ((shape square)) (side shape))
(defun areas (n) (let ((a (make-instance 'circle :radius 2)) (b (make-instance 'square :side 3)) (sum 0))
  (dotimes (i n) (incf sum (area a)) (incf sum (area b)))
  sum))`,
    lisp: "(areas SIZE)",
    answer: (n) => 9 * n,
  },
  {
    name: "loop with a condition",
    onlySbcl: true,
    size: 1_000_000,
    define: "(defun evens (n) (loop for i from 1 to n when (evenp i) sum i))",
    lisp: "(evens SIZE)",
    answer: (n) => (n / 2) * (n / 2 + 1),
  },
  {
    name: "matrix product",
    onlySbcl: true,
    size: 60,
    define: `(defun product (a b c n)
  (dotimes (i n c) (dotimes (j n) (let ((s 0)) (dotimes (k n) (incf s (* (aref a i k) (aref b k j)))) (setf (aref c i j) s)))))
(defun matrix (n value) (make-array (list n n) :initial-element value))`,
    lisp: "(aref (product (matrix SIZE 2) (matrix SIZE 3) (matrix SIZE 0) SIZE) 1 1)",
    answer: (n) => 6 * n,
  },
  {
    name: "signalled errors",
    onlySbcl: true,
    size: 10_000,
    define: `(defun fail (n) (let ((caught 0)) (dotimes (i n) (handler-case (error "bad ~a" i) (error () (incf caught)))) caught))`,
    lisp: "(fail SIZE)",
    answer: (n) => n,
  },
];

function tak(x, y, z) {
  return y < x ? tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y)) : z;
}

export const withSize = (source, size) => source.replaceAll("SIZE", String(size));
