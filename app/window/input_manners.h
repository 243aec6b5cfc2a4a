#pragma once

#include <QObject>

namespace orrery::app {

/// What every field of the studio does with the wheel and with Ctrl+Z. The wheel scrolls, and changes no value that it
/// passes over. Ctrl+Z undoes typing while one types; where nothing is half typed it is the project's.
class InputManners : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
};

}  // namespace orrery::app
