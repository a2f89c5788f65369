;;; Layout of logical blocks. A block that fits stays on its line, otherwise its linear newlines break. The tokens are
;;; strings and lists: (:newline kind depth), (:indent current by), (:tab section relative column step),
;;; (:start close depth prefix per-line suffix), where CLOSE is the index of the (:end) of the block.

;; The text with its line breaks; the first line begins at COLUMN.
(defun %layout (tokens column)
  (let ((ends (%section-ends tokens))
        (margin (if (integerp *print-right-margin*) *print-right-margin* 80))
        (at 0) (line 0) (text "") (base column)
        ;; Of the innermost block. INDENTATION begins its lines, the first FIXED characters of it also literal ones.
        (start 0) (section 0) (section-line 0) (indentation "") (fixed 0) (suffix "")
        (around nil))
    (with-output-to-string (done)
      (labels ((column () (+ base (length text)))
               (add (more) (setq text (concatenate 'string text more)))
               (miser-p ()
                 (and (integerp *print-miser-width*) (<= (- margin start) *print-miser-width*)))
               (fits-p (from)
                 (nth-value 1 (%one-line tokens (1+ from) (aref ends from) (column) margin)))
               (breaks-p (kind)
                 (case kind
                   (:miser (miser-p))
                   (:fill (or (miser-p) (> line section-line) (not (fits-p at))))
                   (t t)))
               (new-line (literal)
                 (write-string (if literal text (string-right-trim '(#\Space #\Tab) text)) done)
                 (setq text "")
                 (incf line)
                 (when (and (integerp *print-lines*) (>= line *print-lines*))
                   (format done " ..~a" suffix)
                   (return-from %layout (get-output-stream-string done)))
                 (terpri done)
                 (setq base 0
                       text (if literal (subseq indentation 0 fixed) indentation))
                 (unless literal
                   (setq section (length text) section-line line)))
               (begin (prefix per-line ending)
                 (let ((here (column)))
                   (push (list start section section-line indentation fixed suffix) around)
                   (setq indentation (%padded indentation here)
                         suffix (concatenate 'string ending suffix)
                         start here section here section-line line)
                   (when per-line
                     (setq indentation (concatenate 'string
                                                    (subseq indentation 0 (- here (length prefix)))
                                                    prefix)
                           fixed here))))
               (put (token)
                 (ecase (first token)
                   (:newline
                    (if (breaks-p (second token))
                        (new-line (eq (second token) :literal))
                        (setq section (column))))
                   (:indent
                    (unless (miser-p)
                      (let ((column (+ (if (second token) (column) start) (third token))))
                        (setq indentation (%padded indentation (max column fixed))))))
                   (:tab (add (make-string (%tab-size (rest token) section (column))
                                           :initial-element #\Space)))
                   (:end
                    (destructuring-bind (a b c d e f) (pop around)
                      (setq start a section b section-line c indentation d fixed e suffix f)))
                   (:start
                    (destructuring-bind (close depth prefix per-line ending) (rest token)
                      (declare (ignore depth))
                      (cond ((fits-p at)
                             (add (%one-line tokens (1+ at) close (column) margin))
                             (setq at close))
                            (t (begin prefix per-line ending))))))))
        (loop while (< at (length tokens))
              do (let ((token (aref tokens at)))
                   (if (stringp token) (add token) (put token)))
                 (incf at))
        (write-string text done)))))

;; For each newline and block, the index of the newline that ends its section.
(defun %section-ends (tokens)
  (let* ((count (length tokens))
         (ends (make-array count :initial-element count))
         (next (make-hash-table)))
    (loop for at from (1- count) downto 0
          for token = (aref tokens at)
          for depth = (and (consp token)
                           (member (first token) '(:newline :start))
                           (third token))
          when depth
            do (loop for outer from 0 to depth
                     do (setf (aref ends at) (min (aref ends at) (gethash outer next count))))
               (when (eq (first token) :newline)
                 (setf (gethash depth next) at)))
    ends))

;; The text of tokens on one line, and whether it fits; gives up at the margin.
(defun %one-line (tokens from to column margin)
  (let ((text "") (section column) (fits t))
    (loop for index from from below to
          while fits
          do (let* ((token (aref tokens index))
                    (here (+ column (length text)))
                    (kind (and (consp token) (first token))))
               (cond ((stringp token) (setq text (concatenate 'string text token)))
                     ((eq kind :tab)
                      (setq text (concatenate 'string text
                                              (make-string (%tab-size (rest token) section here)
                                                           :initial-element #\Space))))
                     ((eq kind :start) (setq section here))
                     ((eq kind :newline)
                      (setq section here)
                      (when (member (second token) '(:mandatory :literal)) (setq fits nil))))
               (when (> (+ column (length text)) margin) (setq fits nil))))
    (values text fits)))

(defun %padded (string width)
  (let ((missing (- width (length string))))
    (if (plusp missing)
        (concatenate 'string string (make-string missing :initial-element #\Space))
        (subseq string 0 width))))

(defun %tab-size (tab section at)
  (destructuring-bind (in-section relative column step) tab
    (let* ((origin (if in-section section 0))
           (goal (+ column origin)))
      (cond (relative
             (let ((over (if (> step 1) (mod (+ (- at origin) column) step) 0)))
               (if (zerop over) column (+ column (- step over)))))
            ((or (< at goal) (zerop step)) (max 0 (- goal at)))
            ((and (= at goal) (plusp column)) 0)
            (t (- step (mod (- at goal) step)))))))
