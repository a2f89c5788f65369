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
  (let ((forms (member-if-not (lambda (form) (typep form '(cons (eql declare)))) body)))
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
