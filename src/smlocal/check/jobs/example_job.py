"""What examples need of a job."""

JOB = """\
HyperParameters: {epochs: "2"}
InputDataConfig:
  - ChannelName: training
    DataSource: {S3DataSource: {S3DataType: S3Prefix, S3Uri: ./data}}
"""
