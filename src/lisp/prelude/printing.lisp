;;; Objects without a syntax, and logical blocks of the pretty printer.

(defmacro print-unreadable-object ((object stream &key type identity) &body body)
  (declare (ignore identity))
  `(%print-unreadable ,object ,stream ,type ,(and body `(lambda () ,@body))))

(defmacro pprint-logical-block ((stream-name list &key (prefix "" prefixed)
                                                       (per-line-prefix ''%none per-line) (suffix ""))
                                &body body)
  (let ((stream (case stream-name ((nil) '*standard-output*) ((t) '*terminal-io*) (t stream-name))))
    (when (or (not (symbolp stream)) (and prefixed per-line))
      (error 'program-error))
    `(let ((%list ,list) (%count 0))
       (%pprint-block ,stream %list ,prefix ,per-line-prefix ,suffix
         (lambda (,stream)
           (declare (ignorable ,stream))
           (block %block
             (macrolet ((pprint-pop ()
                          '(progn
                             (unless (%pprint-more %list %count ,stream)
                               (return-from %block nil))
                             (incf %count)
                             (pop %list)))
                        (pprint-exit-if-list-exhausted ()
                          '(when (null %list) (return-from %block nil))))
               ,@body)))))))

(defun %pprint-more (list count stream)
  (cond ((not (listp list)) (write-string ". " stream) (write list :stream stream) nil)
        ((and *print-length* (not *print-readably*) (>= count *print-length*))
         (write-string "..." stream)
         nil)
        (t t)))

(defun %pprint-items (stream list colon separate)
  (pprint-logical-block (stream list :prefix (if colon "(" "") :suffix (if colon ")" ""))
    (pprint-exit-if-list-exhausted)
    (loop (write (pprint-pop) :stream stream)
          (pprint-exit-if-list-exhausted)
          (write-char #\Space stream)
          (funcall separate stream))))

(defun pprint-fill (stream list &optional (colon t) at-sign)
  (declare (ignore at-sign))
  (%pprint-items stream list colon (lambda (stream) (pprint-newline :fill stream))))

(defun pprint-linear (stream list &optional (colon t) at-sign)
  (declare (ignore at-sign))
  (%pprint-items stream list colon (lambda (stream) (pprint-newline :linear stream))))

(defun pprint-tabular (stream list &optional (colon t) at-sign (tabsize 16))
  (declare (ignore at-sign))
  (%pprint-items stream list colon
                 (lambda (stream)
                   (pprint-tab :section-relative 0 (or tabsize 16) stream)
                   (pprint-newline :fill stream))))

(defmacro pprint-pop ()
  (error "pprint-pop outside pprint-logical-block"))

(defmacro pprint-exit-if-list-exhausted ()
  (error "pprint-exit-if-list-exhausted outside pprint-logical-block"))

(defun pprint (object &optional stream)
  (terpri stream)
  (let ((*print-pretty* t)) (prin1 object stream))
  (values))

(defun write (object &key stream
                       ((:array *print-array*) *print-array*)
                       ((:base *print-base*) *print-base*)
                       ((:case *print-case*) *print-case*)
                       ((:circle *print-circle*) *print-circle*)
                       ((:escape *print-escape*) *print-escape*)
                       ((:gensym *print-gensym*) *print-gensym*)
                       ((:length *print-length*) *print-length*)
                       ((:level *print-level*) *print-level*)
                       ((:lines *print-lines*) *print-lines*)
                       ((:miser-width *print-miser-width*) *print-miser-width*)
                       ((:pprint-dispatch *print-pprint-dispatch*) *print-pprint-dispatch*)
                       ((:pretty *print-pretty*) *print-pretty*)
                       ((:radix *print-radix*) *print-radix*)
                       ((:readably *print-readably*) *print-readably*)
                       ((:right-margin *print-right-margin*) *print-right-margin*))
  (%write object stream))

(defun write-to-string (object &rest settings
                        &key array base case circle escape gensym length level lines miser-width
                          pprint-dispatch pretty radix readably right-margin)
  (declare (ignore array base case circle escape gensym length level lines miser-width
                   pprint-dispatch pretty radix readably right-margin))
  (with-output-to-string (stream)
    (apply #'write object :stream stream settings)))
