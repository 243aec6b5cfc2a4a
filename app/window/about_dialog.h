#pragma once

#include <QDialog>

namespace orrery::app {

class AboutDialog : public QDialog {
    Q_OBJECT
public:
    explicit AboutDialog(QWidget* parent = nullptr);
};

}  // namespace orrery::app
