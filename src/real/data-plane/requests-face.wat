;; MPI_Isend, MPI_Irecv, MPI_Wait, MPI_Waitall and MPI_Test in the program's memory. requests.wat, in the node's, has the requests; here
;; bytes are copied, and handles and statuses written. What the plane does not take goes to the import of the same name, which first makes all requests
;; of the plane the engine's.
(module
  (import "program" "memory" (memory 1 65536 shared))
  (import "program" "bytes" (global $programBytes i32))
  (import "face" "sendFrom" (func $sendFrom (param i32 i32 i32 i32 i32 i32) (result i32)))
  (import "face" "isStatus" (func $isStatus (param i32) (result i32)))
  (import "face" "putStatus" (func $putStatus (param i32 i32 i32 i32)))
  (import "face" "copyIn" (func $copyIn (param i32 i32 i32)))
  (import "face" "storeFirst" (func $storeFirst (param i32 v128 i32)))
  (import "plane" "mayPost" (func $mayPost (param i32 i32 i32 i32 i32 i32) (result i32)))
  (import "plane" "release" (func $release))
  (import "requests" "isOpen" (func $isOpen (result i32)))
  (import "requests" "mayBegin" (func $mayBegin (result i32)))
  (import "requests" "sent" (func $sent (param i32) (result i32)))
  (import "requests" "post" (func $post (param i32 i32 i32 i32 i32 i32) (result i32)))
  (import "requests" "placeOf" (func $placeOf (param i32) (result i32)))
  (import "requests" "isPending" (func $isPending (param i32) (result i32)))
  (import "requests" "next" (func $next (param i32) (result i32 i32 i32 i32 v128)))
  (import "requests" "finish" (func $finish (param i32) (result i32 i32 i32)))
  (import "waits" "wait" (func $wait (result i32)))       ;; as in face.wat
  (import "waits" "rewound" (func $rewound (result i32)))
  (import "engine" "MPI_Isend" (func $engineSend (param i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (import "engine" "MPI_Irecv" (func $engineReceive (param i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (import "engine" "MPI_Wait" (func $engineWait (param i32 i32) (result i32)))
  (import "engine" "MPI_Waitall" (func $engineWaitAll (param i32 i32 i32) (result i32)))
  (import "engine" "MPI_Test" (func $engineTest (param i32 i32 i32) (result i32)))

  ;; The wait in which the stack was unwound is called again when it is put back.
  (global $isUnwound (mut i32) (i32.const 0))

  ;; Are so many words there? What is no memory is the engine's to refuse. So is all where address 0 is not zero (see face.wat).
  (func $areWords (param $at i32) (param $count i32) (result i32)
    (if (i64.ne (i64.load (i32.const 0)) (i64.const 0)) (then (return (i32.const 0))))
    (if (i32.or (i32.and (local.get $at) (i32.const 3)) (i32.lt_u (local.get $at) (i32.const 1024)))
      (then (return (i32.const 0))))
    (i64.le_u
      (i64.add (i64.extend_i32_u (local.get $at)) (i64.shl (i64.extend_i32_u (local.get $count)) (i64.const 2)))
      (i64.extend_i32_u (global.get $programBytes))))

  (func (export "MPI_Isend")
    (param $buffer i32) (param $count i32) (param $type i32) (param $dest i32) (param $tag i32) (param $comm i32)
    (param $out i32)
    (result i32)
    (block $engine
      (br_if $engine (i32.eqz (call $areWords (local.get $out) (i32.const 1))))
      (br_if $engine (i32.eqz (call $mayBegin)))
      (if (i32.eq (local.get $dest) (i32.const -3))
        (then
          (br_if $engine (i32.gt_u (local.get $tag) (i32.const 0x3fffffff)))
          (br_if $engine
            (i32.eqz
              (call $mayPost
                (local.get $buffer) (local.get $count) (local.get $type) (i32.const 0) (local.get $tag)
                (local.get $comm)))))
        (else
          (br_if $engine
            (call $sendFrom
              (local.get $buffer) (local.get $count) (local.get $type) (local.get $dest) (local.get $tag)
              (local.get $comm)))))
      (i32.store (local.get $out) (call $sent (local.get $comm)))
      (return (i32.const 0)))
    (call $engineSend
      (local.get $buffer) (local.get $count) (local.get $type) (local.get $dest) (local.get $tag) (local.get $comm)
      (local.get $out)))

  (func (export "MPI_Irecv")
    (param $buffer i32) (param $count i32) (param $type i32) (param $source i32) (param $tag i32) (param $comm i32)
    (param $out i32)
    (result i32)
    (local $request i32)
    (block $engine
      (br_if $engine (i32.eqz (call $areWords (local.get $out) (i32.const 1))))
      (br_if $engine
        (i32.eqz
          (local.tee $request
            (call $post
              (local.get $buffer) (local.get $count) (local.get $type) (local.get $source) (local.get $tag)
              (local.get $comm)))))
      (i32.store (local.get $out) (local.get $request))
      (return (i32.const 0)))
    (call $engineReceive
      (local.get $buffer) (local.get $count) (local.get $type) (local.get $source) (local.get $tag) (local.get $comm)
      (local.get $out)))

  ;; Messages are taken until the request is over: 0. −1: the engine must see to it; −2: nothing has come.
  (func $receiveUntil (param $place i32) (param $isPatient i32) (result i32)
    (local $answer i32) (local $buffer i32) (local $from i32) (local $bytes i32) (local $first v128)
    (loop $again
      (if (i32.eqz (call $isPending (local.get $place))) (then (return (i32.const 0))))
      (call $next (local.get $isPatient))
      (local.set $first)
      (local.set $bytes)
      (local.set $from)
      (local.set $buffer)
      (if (local.tee $answer) (then (return (local.get $answer))))
      (if (local.get $from)
        (then
          (call $copyIn (local.get $buffer) (local.get $from) (local.get $bytes))
          (call $release))
        (else (call $storeFirst (local.get $buffer) (local.get $first) (local.get $bytes))))
      (br $again))
    (i32.const 0))

  ;; The same with a wait: also 2, when the stack is about to be unwound.
  (func $complete (param $place i32) (param $mayWait i32) (result i32)
    (local $answer i32)
    (loop $again
      (if (i32.eqz (local.tee $answer (call $receiveUntil (local.get $place) (i32.const 1))))
        (then (return (i32.const 0))))
      (if (i32.and (i32.eq (local.get $answer) (i32.const -2)) (local.get $mayWait))
        (then
          (br_if $again (i32.eq (local.tee $answer (call $wait)) (i32.const 1)))
          (if (i32.eq (local.get $answer) (i32.const 2))
            (then
              (global.set $isUnwound (i32.const 1))
              (return (i32.const 2)))))))
    (i32.const -1))

  (func $mayWait (result i32)
    (if (i32.eqz (global.get $isUnwound)) (then (return (i32.const 1))))
    (global.set $isUnwound (i32.const 0))
    (call $rewound))

  ;; The request at that address is over: −1: there is none. Its status is written.
  (func $end (param $place i32) (param $handleAt i32) (param $status i32)
    (local $source i32) (local $tag i32) (local $bytes i32)
    (if (i32.lt_s (local.get $place) (i32.const 0))
      (then
        (call $putStatus (local.get $status) (i32.const -1) (i32.const -2) (i32.const 0))
        (return)))
    (call $finish (local.get $place))
    (local.set $bytes)
    (local.set $tag)
    (local.set $source)
    (i32.store (local.get $handleAt) (i32.const 0x180))
    (call $putStatus (local.get $status) (local.get $source) (local.get $tag) (local.get $bytes)))

  (func (export "MPI_Wait") (param $handleAt i32) (param $status i32) (result i32)
    (local $place i32) (local $mayWait i32) (local $answer i32)
    (local.set $mayWait (call $mayWait))
    (block $engine
      (br_if $engine (i32.eqz (call $isOpen)))
      (br_if $engine (i32.eqz (call $areWords (local.get $handleAt) (i32.const 1))))
      (br_if $engine (i32.eqz (call $isStatus (local.get $status))))
      (local.set $place (call $placeOf (i32.load (local.get $handleAt))))
      (if (i32.lt_s (local.get $place) (i32.const 0))
        (then (br_if $engine (i32.ne (i32.load (local.get $handleAt)) (i32.const 0x180))))
        (else
          (local.set $answer (call $complete (local.get $place) (local.get $mayWait)))
          (br_if $engine (i32.lt_s (local.get $answer) (i32.const 0)))
          (if (local.get $answer) (then (return (i32.const 0))))))
      (call $end (local.get $place) (local.get $handleAt) (local.get $status))
      (return (i32.const 0)))
    (call $engineWait (local.get $handleAt) (local.get $status)))

  (func (export "MPI_Test") (param $handleAt i32) (param $flag i32) (param $status i32) (result i32)
    (local $place i32)
    (block $engine
      (br_if $engine (i32.eqz (call $isOpen)))
      (br_if $engine (i32.eqz (call $areWords (local.get $handleAt) (i32.const 1))))
      (br_if $engine (i32.eqz (call $areWords (local.get $flag) (i32.const 1))))
      (br_if $engine (i32.eqz (call $isStatus (local.get $status))))
      (local.set $place (call $placeOf (i32.load (local.get $handleAt))))
      (if (i32.lt_s (local.get $place) (i32.const 0))
        (then (br_if $engine (i32.ne (i32.load (local.get $handleAt)) (i32.const 0x180))))
        (else (br_if $engine (call $receiveUntil (local.get $place) (i32.const 0)))))
      (i32.store (local.get $flag) (i32.const 1))
      (call $end (local.get $place) (local.get $handleAt) (local.get $status))
      (return (i32.const 0)))
    (call $engineTest (local.get $handleAt) (local.get $flag) (local.get $status)))

  ;; All of them are the plane's, or none at all; and no handle comes twice.
  (func $areLight (param $count i32) (param $handles i32) (result i32)
    (local $i i32) (local $handle i32) (local $place i32) (local $seen i64) (local $bit i64)
    (loop $next
      (if (i32.ge_u (local.get $i) (local.get $count)) (then (return (i32.const 1))))
      (local.set $handle (i32.load (i32.add (local.get $handles) (i32.shl (local.get $i) (i32.const 2)))))
      (if (i32.ne (local.get $handle) (i32.const 0x180))
        (then
          (local.set $place (call $placeOf (local.get $handle)))
          (if (i32.lt_s (local.get $place) (i32.const 0)) (then (return (i32.const 0))))
          (local.set $bit (i64.shl (i64.const 1) (i64.extend_i32_u (local.get $place))))
          (if (i64.ne (i64.and (local.get $seen) (local.get $bit)) (i64.const 0)) (then (return (i32.const 0))))
          (local.set $seen (i64.or (local.get $seen) (local.get $bit)))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br $next))
    (i32.const 1))

  (func (export "MPI_Waitall") (param $count i32) (param $handles i32) (param $statuses i32) (result i32)
    (local $i i32) (local $place i32) (local $at i32) (local $answer i32) (local $mayWait i32)
    (local.set $mayWait (call $mayWait))
    (block $engine
      (br_if $engine (i32.eqz (call $isOpen)))
      ;; Longer lists are those of programs that the engine suits better.
      (br_if $engine (i32.gt_u (local.get $count) (i32.const 1024)))
      (br_if $engine (i32.eqz (call $areWords (local.get $handles) (local.get $count))))
      (if (local.get $statuses)
        (then
          (br_if $engine
            (i32.eqz (call $areWords (local.get $statuses) (i32.shl (local.get $count) (i32.const 3)))))))
      (br_if $engine (i32.eqz (call $areLight (local.get $count) (local.get $handles))))
      (loop $next
        (if (i32.lt_u (local.get $i) (local.get $count))
          (then
            (local.set $place
              (call $placeOf (i32.load (i32.add (local.get $handles) (i32.shl (local.get $i) (i32.const 2))))))
            (if (i32.ge_s (local.get $place) (i32.const 0))
              (then
                (local.set $answer (call $complete (local.get $place) (local.get $mayWait)))
                (br_if $engine (i32.lt_s (local.get $answer) (i32.const 0)))
                (if (local.get $answer) (then (return (i32.const 0))))))
            (local.set $i (i32.add (local.get $i) (i32.const 1)))
            (br $next))))
      (local.set $i (i32.const 0))
      (loop $next
        (if (i32.lt_u (local.get $i) (local.get $count))
          (then
            (local.set $at (i32.add (local.get $handles) (i32.shl (local.get $i) (i32.const 2))))
            (call $end (call $placeOf (i32.load (local.get $at))) (local.get $at)
              (select (i32.add (local.get $statuses) (i32.shl (local.get $i) (i32.const 5))) (i32.const 0)
                (local.get $statuses)))
            (local.set $i (i32.add (local.get $i) (i32.const 1)))
            (br $next))))
      (return (i32.const 0)))
    (call $engineWaitAll (local.get $count) (local.get $handles) (local.get $statuses))))
