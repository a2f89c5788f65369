/**
 * What the Lisps are timed on. `lisp` runs in ours, SBCL, JSCL and, unless `plain` says it in simpler forms, in the naive walker; `scheme` is the same in
 * Scheme. `size` is what SBCL and the naive walker get, `smallSize` what the interpreters from npm can bear; `SIZE` in a program stands for it.
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
];

function tak(x, y, z) {
  return y < x ? tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y)) : z;
}

export const withSize = (source, size) => source.replaceAll("SIZE", String(size));
