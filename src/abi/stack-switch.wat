;; Stops and goes on with a program whose stack Asyncify unwinds, in one call each from JavaScript: ranks that take turns do so thousands of
;; times before anything of JavaScript is compiled, and every step into WebAssembly costs as much as all of this.
(module
  (import "memory" "memory" (memory 1 65536 shared))
  (import "program" "__stack_pointer" (global $pointer (mut i32)))
  (import "program" "_start" (func $start))
  (import "program" "asyncify_start_unwind" (func $startUnwind (param i32)))
  (import "program" "asyncify_stop_unwind" (func $stopUnwind))
  (import "program" "asyncify_start_rewind" (func $startRewind (param i32)))
  (import "program" "asyncify_get_state" (func $state (result i32)))

  ;; The stack begins to be written into the area: its first words say where it is free, and where it ends.
  (func (export "unwind") (param $area i32) (param $bytes i32)
    (i32.store (local.get $area) (i32.add (local.get $area) (i32.const 8)))
    (i32.store offset=4 (local.get $area) (i32.add (local.get $area) (local.get $bytes)))
    (call $startUnwind (local.get $area)))

  ;; Starts the program, or puts its stack back from the area and goes on. The result: C's own stack pointer when it has stopped, 0 when it
  ;; has come to its end.
  (func (export "start") (result i32)
    (call $start)
    (call $stopped))
  (func (export "goOn") (param $area i32) (param $was i32) (result i32)
    (global.set $pointer (local.get $was))
    (call $startRewind (local.get $area))
    (call $start)
    (call $stopped))

  (func $stopped (result i32)
    (if (i32.ne (call $state) (i32.const 1)) (then (return (i32.const 0))))
    (call $stopUnwind)
    (global.get $pointer)))
