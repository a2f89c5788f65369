;;; describe and apropos.

(defun %describe (object stream)
  (let ((kind (typecase object
                (symbol 'symbol)
                (function 'function)
                (structure-object 'structure-object)
                (condition 'condition)
                (standard-object 'standard-object)
                (string 'string)
                (vector 'vector)
                (t (class-name (class-of object))))))
    (format stream "~s~%  [~(~a~)]~%" object kind)
    (case kind
      (symbol (%describe-symbol object stream))
      (function (%describe-function object stream))
      ((structure-object condition standard-object) (%describe-slots object stream))
      (hash-table (format stream "  Count: ~d~%  Test: ~a~%"
                          (hash-table-count object) (hash-table-test object)))
      ((string vector) (format stream "  Length: ~d~%" (length object))))
    nil))

(defun %describe-symbol (symbol stream)
  (when (boundp symbol)
    (format stream "~%~s names ~a variable:~%  Value: ~s~%" symbol
            (cond ((constantp symbol) "a constant")
                  ((%special-p symbol) "a special")
                  (t "an undeclared"))
            (symbol-value symbol))
    (%describe-documentation (documentation symbol 'variable) stream))
  (cond ((macro-function symbol)
         (format stream "~%~s names a macro:~%" symbol)
         (%describe-documentation (documentation symbol 'function) stream))
        ((and (fboundp symbol) (not (special-operator-p symbol)))
         (format stream "~%~s names a function:~%" symbol)
         (%describe-function (fdefinition symbol) stream)))
  (when (find-class symbol nil)
    (format stream "~%~s names a class:~%  Precedence: ~{~a~^, ~}~%" symbol
            (mapcar (lambda (class) (symbol-name (class-name class)))
                    (%precedence (find-class symbol))))
    (%describe-documentation (documentation symbol 'type) stream)))

(defun %describe-function (function stream)
  (format stream "  Lambda-list: (~:@(~a~))~%" (%lambda-list function))
  (%describe-documentation (documentation function t) stream))

(defun %describe-slots (object stream)
  (format stream "~%Slots:~%")
  (let* ((names (%slot-names object))
         (width (reduce #'max names :key (lambda (name) (length (symbol-name name)))
                                    :initial-value 0)))
    (dolist (name names)
      (format stream "  ~va = ~:[#<unbound slot>~;~s~]~%" width (symbol-name name)
              (slot-boundp object name)
              (and (slot-boundp object name) (slot-value object name))))))

(defun %describe-documentation (text stream)
  (when text
    (write-line "  Documentation:" stream)
    (with-input-from-string (lines text)
      (loop for line = (read-line lines nil) while line do (format stream "    ~a~%" line)))))

;; Names that the library only mentions are left out.
(defun apropos-list (string &optional package)
  (let ((wanted (string string)) (found nil))
    (dolist (one (if package (list package) (list-all-packages)))
      (unless (equal (package-name one) "LISP-SYSTEM")
        (dolist (symbol (%package-symbols one :present))
          (when (and (search wanted (symbol-name symbol) :test #'char-equal)
                     (or (fboundp symbol) (boundp symbol) (not (%locked-p symbol))))
            (push symbol found)))))
    (sort (remove-duplicates found) #'string<)))

(defun apropos (string &optional package)
  (dolist (symbol (apropos-list string package) (values))
    (format t "~s~:[~; (macro)~]~:[~; (fbound)~]~:[~; (bound)~]~:[~; (class)~]~%" symbol
            (macro-function symbol)
            (and (fboundp symbol) (not (macro-function symbol)))
            (boundp symbol)
            (find-class symbol nil))))
