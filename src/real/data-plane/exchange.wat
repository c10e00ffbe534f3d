;; MPI_Sendrecv in the program's memory, put together from the two halves of face.wat: a send that leaves at once, and a receive that waits.
;; What the plane does not take goes to the import of the same name, all of it; when the send has left, `rest` is the engine's receive.
(module
  (import "face" "sendFrom" (func $sendFrom (param i32 i32 i32 i32 i32 i32) (result i32)))
  (import "face" "receiveInto" (func $receiveInto (param i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (import "face" "isStatus" (func $isStatus (param i32) (result i32)))
  (import "face" "putStatus" (func $putStatus (param i32 i32 i32 i32)))
  (import "plane" "mayReceive" (func $mayReceive (param i32 i32 i32 i32 i32 i32) (result i32)))
  (import "plane" "mayExchange" (func $mayExchange (param i32 i32 i32) (result i32)))
  (import "waits" "wait" (func $wait (result i32)))       ;; as in face.wat
  (import "waits" "rewound" (func $rewound (result i32)))
  (import "engine" "MPI_Sendrecv"
    (func $engineExchange (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (import "engine" "restOfExchange"
    (func $engineRest (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))

  ;; The receive has waited and the stack was unwound: the call is made again when it is put back. Its message has left by then.
  (global $isUnwound (mut i32) (i32.const 0))

  ;; Nobody (MPI_PROC_NULL) is sent nothing, and sends nothing.
  (func (export "MPI_Sendrecv")
    (param $out i32) (param $outCount i32) (param $outType i32) (param $dest i32) (param $outTag i32)
    (param $in i32) (param $inCount i32) (param $inType i32) (param $source i32) (param $inTag i32)
    (param $comm i32) (param $status i32)
    (result i32)
    (if (global.get $isUnwound)
      (then
        (global.set $isUnwound (i32.const 0))
        (return
          (call $rest (call $rewound)
            (local.get $out) (local.get $outCount) (local.get $outType) (local.get $dest) (local.get $outTag)
            (local.get $in) (local.get $inCount) (local.get $inType) (local.get $source) (local.get $inTag)
            (local.get $comm) (local.get $status)))))
    (block $engine
      ;; The receive is looked at first: a send cannot be taken back.
      (br_if $engine (i32.eqz (call $isStatus (local.get $status))))
      (br_if $engine (i32.eqz (call $mayExchange (local.get $comm) (local.get $dest) (local.get $source))))
      (br_if $engine
        (i32.eqz
          (call $mayReceive
            (local.get $in) (local.get $inCount) (local.get $inType)
            (select (i32.const 0) (local.get $source) (i32.eq (local.get $source) (i32.const -3)))
            (local.get $inTag) (local.get $comm))))
      (if (i32.eq (local.get $dest) (i32.const -3))
        (then
          (br_if $engine (i32.gt_u (local.get $outTag) (i32.const 0x3fffffff)))
          (br_if $engine
            (i32.eqz
              (call $mayReceive
                (local.get $out) (local.get $outCount) (local.get $outType) (i32.const 0) (local.get $outTag)
                (local.get $comm)))))
        (else
          (br_if $engine
            (call $sendFrom
              (local.get $out) (local.get $outCount) (local.get $outType) (local.get $dest) (local.get $outTag)
              (local.get $comm)))))
      (return
        (call $rest (i32.const 1)
          (local.get $out) (local.get $outCount) (local.get $outType) (local.get $dest) (local.get $outTag)
          (local.get $in) (local.get $inCount) (local.get $inType) (local.get $source) (local.get $inTag)
          (local.get $comm) (local.get $status))))
    (call $engineExchange
      (local.get $out) (local.get $outCount) (local.get $outType) (local.get $dest) (local.get $outTag)
      (local.get $in) (local.get $inCount) (local.get $inType) (local.get $source) (local.get $inTag)
      (local.get $comm) (local.get $status)))

  ;; The message has left: the other is received.
  (func $rest
    (param $mayWait i32)
    (param $out i32) (param $outCount i32) (param $outType i32) (param $dest i32) (param $outTag i32)
    (param $in i32) (param $inCount i32) (param $inType i32) (param $source i32) (param $inTag i32)
    (param $comm i32) (param $status i32)
    (result i32)
    (local $answer i32)
    (if (i32.eq (local.get $source) (i32.const -3))
      (then
        (call $putStatus (local.get $status) (i32.const -3) (i32.const -2) (i32.const 0))
        (return (i32.const 0))))
    (loop $again
      (local.set $answer
        (call $receiveInto
          (local.get $in) (local.get $inCount) (local.get $inType) (local.get $source) (local.get $inTag)
          (local.get $comm) (local.get $status)))
      (if (i32.eqz (local.get $answer)) (then (return (i32.const 0))))
      (if (i32.and (i32.eq (local.get $answer) (i32.const -2)) (local.get $mayWait))
        (then
          (br_if $again (i32.eq (local.tee $answer (call $wait)) (i32.const 1)))
          (if (i32.eq (local.get $answer) (i32.const 2))
            (then
              (global.set $isUnwound (i32.const 1))
              (return (i32.const 0)))))))
    (call $engineRest
      (local.get $out) (local.get $outCount) (local.get $outType) (local.get $dest) (local.get $outTag)
      (local.get $in) (local.get $inCount) (local.get $inType) (local.get $source) (local.get $inTag)
      (local.get $comm) (local.get $status))))
