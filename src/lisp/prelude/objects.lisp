;;; Method combinations, generic functions by name, load forms.

(defmacro define-method-combination (name &rest rest)
  (if (and rest (listp (car rest)))
      (%long-combination name (first rest) (second rest) (cddr rest))
      (destructuring-bind (&key documentation identity-with-one-argument (operator name)) rest
        (declare (ignore documentation))
        `(%add-combination
          ',name (%short-combination ',name ',operator ',identity-with-one-argument)))))

;; Calls the operator with the results of all methods that are qualified with the name.
(defun %short-combination (name operator identity)
  (lambda (generic methods &optional (order :most-specific-first))
    (declare (ignore generic))
    (destructuring-bind (around primary)
        (%group-methods methods `((around ((:around)) nil nil) (primary ((,name)) ,order t)))
      (let* ((calls (mapcar (lambda (method) `(call-method ,method)) primary))
             (form (if (and identity (null (rest calls))) (first calls) `(,operator ,@calls))))
        (if around
            `(call-method ,(first around) (,@(rest around) (make-method ,form)))
            form)))))

(defun %long-combination (name lambda-list groups body)
  (let ((generic (gensym)) (arguments nil))
    (loop while (and (consp (car body)) (member (caar body) '(:arguments :generic-function)))
          do (if (eq (caar body) :arguments)
                 (setq arguments (cdr (pop body)))
                 (setq generic (cadr (pop body)))))
    (when arguments
      (error "define-method-combination does not support (:arguments …)"))
    (let ((names (mapcar #'car groups)))
      `(%add-combination ',name
         (lambda (,generic %methods ,@lambda-list)
           (declare (ignorable ,generic))
           (destructuring-bind ,names
               (%group-methods %methods (list ,@(mapcar #'%method-group groups)))
             (declare (ignorable ,@names))
             (block ,name ,@body)))))))

(defun %method-group (group)
  (destructuring-bind (name &rest rest) group
    (let* ((end (or (position-if #'keywordp rest) (length rest)))
           (options (nthcdr end rest)))
      (remf options :description)
      `(list ',name ',(subseq rest 0 end) ,(getf options :order) ,(getf options :required)))))

;; Each method belongs to the first group that it fits.
(defun %group-methods (methods groups)
  (let ((found (mapcar (constantly nil) groups)))
    (dolist (method methods)
      (let ((at (position-if (lambda (group)
                               (some (lambda (pattern) (%fits pattern (method-qualifiers method)))
                                     (second group)))
                             groups)))
        (if at
            (push method (nth at found))
            (error "a method with the qualifiers ~s fits no group of its method combination"
                   (method-qualifiers method)))))
    (mapcar (lambda (group methods)
              (destructuring-bind (name patterns order required) group
                (declare (ignore patterns))
                (when (and required (null methods)) (error "no method for the group ~s" name))
                (if (eq order :most-specific-last) methods (reverse methods))))
            groups found)))

(defun %fits (pattern qualifiers)
  (cond ((eq pattern '*) t)
        ((null pattern) (null qualifiers))
        ((symbolp pattern) (funcall pattern qualifiers))
        (t (and (consp qualifiers)
                (or (eq (car pattern) '*) (eql (car pattern) (car qualifiers)))
                (or (and (null (cdr pattern)) (null (cdr qualifiers)))
                    (and (cdr pattern) (%fits (cdr pattern) (cdr qualifiers))))))))

(defun %effective-method (form)
  `(lambda (%arguments)
     (declare (ignorable %arguments))
     (macrolet ((make-method (form)
                  `(lambda (%arguments) (declare (ignorable %arguments)) ,form))
                (call-method (method &optional next)
                  (flet ((quoted (one) (if (consp one) one `',one)))
                    `(%call-method ,(quoted method) (list ,@(mapcar #'quoted next)) %arguments))))
       ,form)))

(defun method-combination-error (control &rest arguments)
  (error 'simple-error :format-control control :format-arguments arguments))

(defun invalid-method-error (method control &rest arguments)
  (error "~s is not valid: ~?" method control arguments))

(defun ensure-generic-function (name &key argument-precedence-order declare documentation environment
                                     generic-function-class lambda-list method-class method-combination)
  (declare (ignore declare environment generic-function-class method-class))
  (if (and (fboundp name) (typep (fdefinition name) 'generic-function))
      (fdefinition name)
      (%define-generic name lambda-list method-combination argument-precedence-order documentation)))

(defun make-load-form-saving-slots (object &key (slot-names nil chosen) environment)
  (declare (ignore environment))
  (values `(allocate-instance (find-class ',(class-name (class-of object))))
          `(progn ,@(loop for name in (if chosen slot-names (%slot-names object))
                          when (slot-boundp object name)
                            collect `(setf (slot-value ',object ',name)
                                           ',(slot-value object name))))))

(defmacro with-slots (entries object &body body)
  (%with-places entries object body (lambda (holder name) `(slot-value ,holder ',name))))

(defmacro with-accessors (entries object &body body)
  (%with-places entries object body (lambda (holder name) `(,name ,holder))))

;; Each entry is a variable, or a variable and a name; the variable is a place of the object.
(defun %with-places (entries object body place)
  (let ((holder (gensym)))
    `(let ((,holder ,object))
       (symbol-macrolet
           ,(loop for entry in entries
                  for (variable name) = (if (consp entry) entry (list entry entry))
                  collect (list variable (funcall place holder name)))
         ,@body))))
