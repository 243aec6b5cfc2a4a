#pragma once

// Where a search runs: on this machine, or wherever a command starts orrery-cli.

#include <QComboBox>

namespace orrery::app {

/// Editable, with the usual launchers to choose from. Of a person and not of a project: kept in the settings of the
/// page.
class ExploreCommand : public QComboBox {
    Q_OBJECT
public:
    explicit ExploreCommand(QWidget* parent = nullptr);
    QString command() const;  ///< empty: this machine
    void setCommand(const QString& command);

signals:
    void changed();
};

}  // namespace orrery::app
