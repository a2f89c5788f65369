;;; Definitions of places and of macros that modify places.

(defmacro defsetf (name second &optional (stores nil long) &body body)
  (if (and second (symbolp second))
      `(%defsetf-short ',name ',second)
      (multiple-value-bind (plain environment) (%without-environment second)
        (unless long (error 'program-error))
        `(%defsetf-long ',name ,(length stores)
           (lambda (,environment ,@stores ,@plain)
             (declare (ignorable ,environment))
             ,@(%in-block name body))))))

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
