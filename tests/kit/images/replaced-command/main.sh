#!/bin/sh
echo never seen
