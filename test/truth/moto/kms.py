"""Creates keys with the usage and tags of CloudFormation. moto makes symmetric keys, and expects other tag names."""

import moto.kms.models as models


def extend():
    def create(cls, resource_name, cloudformation_json, account_id, region_name, **_):
        given = cloudformation_json["Properties"]
        return models.kms_backends[account_id][region_name].create_key(
            policy=given["KeyPolicy"],
            key_usage=given.get("KeyUsage", "ENCRYPT_DECRYPT"),
            key_spec=given.get("KeySpec", "SYMMETRIC_DEFAULT"),
            description=given.get("Description"),
            tags=[{"TagKey": tag["Key"], "TagValue": tag["Value"]} for tag in given.get("Tags", [])],
        )

    models.Key.create_from_cloudformation_json = classmethod(create)
