;;; Definitions of places and of macros that modify places.

(defmacro defsetf (name second &optional (stores nil long) &body body)
  (if (and second (symbolp second))
      `(%defsetf ',name 1
         (lambda (%environment &rest %parts)
           (declare (ignore %environment))
           (cons ',second (append (cdr %parts) (list (car %parts))))))
      (multiple-value-bind (plain environment) (%without-environment second)
        (unless long (error 'program-error))
        `(%defsetf ',name ,(length stores)
           (lambda (,environment ,@stores ,@plain)
             (declare (ignorable ,environment))
             ,@(%in-block name body))))))

;; STORE makes the form that stores, from the environment, the variables of the new values and those of the operands.
(defun %defsetf (name count store)
  (%define-setf-expander name
    (lambda (place environment)
      (let ((parts (%variables (cdr place)))
            (stores (loop repeat count collect (make-symbol "NEW"))))
        (values parts (cdr place) stores
                (apply store environment (append stores parts))
                (cons (car place) parts))))))

(defun %variables (forms)
  (loop for nil in forms collect (make-symbol "PART")))

(defmacro define-setf-expander (name lambda-list &body body)
  (multiple-value-bind (plain environment) (%without-environment lambda-list)
    `(%define-setf-expander ',name
       (lambda (%place ,environment)
         (declare (ignorable ,environment))
         (destructuring-bind ,plain (cdr %place) ,@(%in-block name body))))))

(defun %in-block (name body)
  (when (and (stringp (first body)) (rest body)) (pop body))
  (let ((forms (member-if-not #'%declaration-p body)))
    `(,@(ldiff body forms) (block ,name ,@forms))))

(defun %without-environment (lambda-list)
  (let ((found (member '&environment lambda-list)))
    (if found
        (values (append (ldiff lambda-list found) (cddr found)) (second found))
        (values lambda-list (gensym)))))

(defmacro define-modify-macro (name lambda-list function &optional documentation)
  (let* ((rest (second (member '&rest lambda-list)))
         (required (ldiff lambda-list (member '&rest lambda-list)))
         (names (loop for one in (remove '&optional required)
                      collect (if (consp one) (car one) one))))
    `(defmacro ,name (%place ,@lambda-list &environment %environment)
       ,@(and documentation (list documentation))
       (%modify-place %place ',function (list* ,@names ,rest) %environment))))

;; The expansion of a place as a list: bindings, variables for the new values, the form that stores, the form that reads.
(defun %place (place environment)
  (multiple-value-bind (names forms stores store access) (get-setf-expansion place environment)
    (list (mapcar #'list names forms) stores store access)))

;; Binds the new values of the places around BODY.
(defun %with-values (places values body)
  (loop for (nil stores) in (reverse places)
        for value in (reverse values)
        do (setq body `(multiple-value-bind ,stores ,value ,body)))
  body)

(defmacro psetf (&rest pairs &environment environment)
  (when (oddp (length pairs))
    (error 'program-error :text "psetf takes places and values in pairs"))
  (let* ((places (loop for (place) on pairs by #'cddr collect (%place place environment)))
         (form `(progn ,@(mapcar #'third places) nil)))
    (loop for (bindings stores) in (reverse places)
          for (value) on (reverse pairs) by #'cddr
          do (setq form `(let* ,bindings (multiple-value-bind ,stores ,value ,form))))
    form))

(defmacro shiftf (&rest operands &environment environment)
  (unless (cdr operands)
    (error 'program-error :text "shiftf needs a place and a new value"))
  (let* ((places (mapcar (lambda (place) (%place place environment)) (butlast operands)))
         (olds (mapcar (lambda (store) (declare (ignore store)) (gensym)) (second (first places))))
         (values (append (mapcar #'fourth (rest places)) (last operands))))
    `(let* ,(mapcan #'first places)
       (multiple-value-bind ,olds ,(fourth (first places))
         ,(%with-values places values
                        `(progn ,@(mapcar #'third places) (values ,@olds)))))))

(defmacro rotatef (&rest operands &environment environment)
  (when operands
    (let* ((places (mapcar (lambda (place) (%place place environment)) operands))
           (values (mapcar #'fourth (append (rest places) (list (first places))))))
      `(let* ,(mapcan #'first places)
         ,(%with-values places values `(progn ,@(mapcar #'third places) nil))))))

(defmacro remf (place indicator &environment environment)
  (destructuring-bind (bindings (list) store access) (%place place environment)
    `(let* (,@bindings (%indicator ,indicator))
       (multiple-value-bind (,list %found) (%remf ,access %indicator)
         ,store
         %found))))

(defmacro multiple-value-setq (names form)
  (if names
      `(values (setf (values ,@names) ,form))
      `(values ,form)))

;;; Places that are not functions; each gives the values of GET-SETF-EXPANSION.

(defun %place-the (place environment)
  (destructuring-bind (type inner) (cdr place)
    (multiple-value-bind (names forms stores store access) (get-setf-expansion inner environment)
      (values names forms stores store `(the ,type ,access)))))

;; A part with several variables, an inner VALUES, gets one value.
(defun %place-values (place environment)
  (let ((parts (loop for inner in (cdr place)
                     collect (multiple-value-list (get-setf-expansion inner environment)))))
    (values (loop for (names nil stores) in parts append names append (cdr stores))
            (loop for (nil forms stores) in parts
                  append forms
                  append (loop for nil in (cdr stores) collect nil))
            (mapcar #'car (mapcar #'third parts))
            `(values ,@(mapcar #'fourth parts))
            `(values ,@(mapcar #'fifth parts)))))

(defun %place-getf (place environment)
  (destructuring-bind (inner indicator &rest default) (cdr place)
    (multiple-value-bind (names forms stores store access) (get-setf-expansion inner environment)
      (let ((key (make-symbol "KEY")) (held (%variables default)) (new (make-symbol "NEW")))
        (values `(,@names ,key ,@held) `(,@forms ,indicator ,@default) (list new)
                `(let ((,(car stores) (%putf ,access ,key ,new))) ,store ,new)
                `(getf ,access ,key ,@held))))))

(defun %place-ldb (place environment)
  (destructuring-bind (operator specifier inner) place
    (multiple-value-bind (names forms stores store access) (get-setf-expansion inner environment)
      (let ((bytes (make-symbol "BYTE"))
            (new (make-symbol "NEW"))
            (depositor (if (eq operator 'ldb) 'dpb 'deposit-field)))
        (values (cons bytes names) (cons specifier forms) (list new)
                `(let ((,(car stores) (,depositor ,new ,bytes ,access))) ,store ,new)
                `(,operator ,bytes ,access))))))

(defun %place-mask-field (place environment)
  (%place-ldb place environment))

;; (setf (apply #'f a … list) v) applies (setf f).
(defun %place-apply (place environment)
  (declare (ignore environment))
  (destructuring-bind (function &rest operands) (cdr place)
    (unless (typep function '(cons (eql function) cons))
      (error 'program-error :text "setf of apply needs #'name"))
    (let ((parts (%variables operands)) (new (make-symbol "NEW")))
      (values parts operands (list new)
              `(apply #'(setf ,(second function)) ,new ,@parts)
              `(apply ,function ,@parts)))))
