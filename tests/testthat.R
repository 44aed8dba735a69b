library(testthat)
library(protonam)

test_check("protonam")
